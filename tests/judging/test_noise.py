"""Protects what lateness decides: nothing that it may have brought about itself, and everything that it cannot."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from harness.faults import FAULTS
from harness.judging import judge
from harness.plan import PlannedFault, Statistic
from harness.story import DelaySample, Noise

TIME = "probe.time_to_error"
ANSWER, PAUSE = {"connection": 1}, dict[str, int]()
"""Where the client waits: for an answer on a connection, or for nothing but time."""
Make = Callable[[], Any]


def delayed(*samples: tuple[float, Mapping[str, float]], lag_s: float = 0.0) -> Noise:
    """Samples as (second, seconds lost so far by name)."""
    found = tuple(DelaySample(round(at_s * 1e9), lost_s) for at_s, lost_s in samples)
    return Noise(loop_lag_p99_s=lag_s, loop_lag_max_s=lag_s, samples=100, delays=found)


def judged(story_builder: Any) -> tuple[str, bool]:
    judgement = judge(story_builder.plan(), story_builder.story())
    return judgement.verdict, judgement.noisy


@pytest.mark.parametrize(
    ("lost_s", "expected"), [(0.0, "fail"), (0.09, "fail"), (0.11, "inconclusive"), (3.0, "inconclusive")]
)
def test_a_violation_above_the_lateness_fails_and_a_smaller_one_is_tried_again(
    blackholed: Make, lost_s: float, expected: str
) -> None:
    """8.751 s are 101 ms above 8.65 s."""
    story_builder = blackholed()
    story_builder.noise = delayed((0.9, {"broker 1": 5.0}), (9.9, {"broker 1": 5.0 + lost_s}))
    story_builder.expect(TIME, "equals", "8.60s", within_absolute=0.05)
    assert judged(story_builder) == (expected, expected == "inconclusive")


def test_lateness_before_and_after_the_wait_explains_nothing(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.noise = delayed((0.0, {}), (0.95, {"x": 9.0}), (9.9, {"x": 9.001}), (20.0, {"x": 30.0}))
    story_builder.expect(TIME, "equals", "8.60s", within_absolute=0.05)
    assert judged(story_builder) == ("fail", False)


def test_the_lateness_of_every_process_adds_up_and_is_said(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.noise = delayed((0.9, {}), (9.9, {"the client": 0.06, "broker 2": 0.05}))
    story_builder.expect(TIME, "equals", "8.60s", within_absolute=0.05)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.noisy
    assert "the client by 60.0 ms, broker 2 by 50.0 ms" in judgement.reasons[0]
    assert judgement.judged[0].late_s == pytest.approx(0.11)


@pytest.mark.parametrize(
    ("limit_s", "outcome", "on", "healing_s", "expected"),
    [(1.95, "elapsed", ANSWER, 5.0, "fail"), (1.95, "elapsed", ANSWER, 2.5, "inconclusive"),
     (1.5, "elapsed", ANSWER, 5.0, "inconclusive"), (None, "elapsed", ANSWER, 5.0, "inconclusive"),
     (1.95, "satisfied", ANSWER, 5.0, "inconclusive"), (1.95, "elapsed", PAUSE, 2.5, "fail")],
)  # fmt: skip
def test_lateness_within_a_wait_for_a_limit_that_had_to_run_out_costs_nothing(
    story_builder: Any, limit_s: float | None, outcome: str, on: dict[str, int], healing_s: float, expected: str
) -> None:
    """2.1 s are 200 ms above the bound. Of them 1.95 s were a limit's, which lateness cannot have made longer.

    Unless the link healed meanwhile, and the answer was what came late; a pause waits for none.
    """
    limited = {} if limit_s is None else {"limit_s": limit_s}
    story_builder.inject(proven=True, at_s=0.5, healing_s=healing_s, healed_s=healing_s)
    story_builder.begin(1.0)
    story_builder.wait(1.01, 3.0, "Net.ReadTimeout", outcome, **limited, **on)
    story_builder.end(1.0, 3.1, "failed")
    story_builder.noise = delayed((0.9, {}), (9.9, {"the client": 1.9}))
    story_builder.expect(TIME, "equals", "1.85s", within_absolute=0.05)
    assert judged(story_builder) == (expected, expected == "inconclusive")


def test_a_limit_that_runs_out_beside_a_wait_for_an_answer_says_nothing_of_that(story_builder: Any) -> None:
    story_builder.begin(1.0)
    story_builder.add_event(1.01, "wait_started", waiting_on="Net.ReadTimeout", limit_s=5.0)
    story_builder.wait(1.02, 2.97, "Producer.Flush.Frequency", limit_s=1.95)
    story_builder.add_event(3.0, "wait_ended", waiting_on="Net.ReadTimeout", outcome="satisfied")
    story_builder.end(1.0, 3.1, "failed")
    story_builder.noise = delayed((0.9, {}), (9.9, {"the client": 1.9}))
    story_builder.expect(TIME, "equals", "1.85s", within_absolute=0.05)
    assert judged(story_builder) == ("inconclusive", True)


def test_what_came_too_early_cannot_be_late(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.noise = delayed((0.9, {}), (9.9, {"the client": 5.0}))
    story_builder.expect(TIME, "equals", "9s", within_absolute=0.05)
    assert judged(story_builder) == ("fail", False)


def test_a_beginning_that_the_lab_stamped_late_makes_a_time_too_short(story_builder: Any) -> None:
    for stamped, expected in [("subject", "fail"), ("harness", "inconclusive")]:
        story_builder.__init__()
        story_builder.begin(1.0)
        story_builder.end(1.0, 3.0, "failed", stamped=stamped)
        story_builder.noise = delayed((0.9, {}), (9.9, {"the client": 0.001}), lag_s=0.06)
        story_builder.expect(TIME, "equals", "2.1s", within_absolute=0.05)
        assert judged(story_builder) == (expected, expected == "inconclusive")


def test_a_pause_that_began_before_a_late_call_is_shorter_by_that(story_builder: Any) -> None:
    """The client paused 100 ms since the message before; the lab called the next one so much later."""
    for called_s, expected in [(1.07, "inconclusive"), (1.01, "fail")]:
        story_builder.__init__()
        story_builder.begin(0.5, alias="one")
        story_builder.end(0.5, 1.0, "failed", alias="one")
        story_builder.begin(called_s)
        story_builder.wait(1.0, called_s + 0.03, "Producer.Retry.Backoff")
        story_builder.end(called_s, called_s + 0.03, "failed")
        story_builder.noise = delayed((0.9, {}), (9.9, {"the client": 0.001}))
        story_builder.expect(TIME, "equals", "0.1s", within_absolute=0.05)
        assert judged(story_builder) == (expected, expected == "inconclusive")


def test_a_deadline_that_began_before_a_late_call_is_nearer_by_that(story_builder: Any) -> None:
    """Also where the client says nothing of its waits: 100 ms of the deadline had passed, or 10 ms."""
    for called_s, expected in [(1.1, "inconclusive"), (1.01, "fail")]:
        story_builder.__init__()
        story_builder.begin(0.9, alias="one")
        story_builder.end(0.9, 1.0, "ok", alias="one")
        story_builder.begin(called_s)
        story_builder.end(called_s, called_s + 0.4, "failed")
        story_builder.noise = delayed((0.9, {}), (9.9, {"the client": 0.001}))
        story_builder.expect(TIME, "equals", "0.5s", within_absolute=0.05)
        assert judged(story_builder) == (expected, expected == "inconclusive")


def test_lateness_that_may_have_made_a_time_long_enough_proves_nothing(blackholed: Make) -> None:
    for kind, lost_s, expected in [
        ("equals", 0.04, "pass"),
        ("equals", 0.06, "inconclusive"),
        ("at_most", 9.0, "pass"),
    ]:
        story_builder = blackholed()
        story_builder.noise = delayed((0.9, {}), (9.9, {"the client": lost_s}))
        story_builder.expect(TIME, kind, "8.75s", within_absolute=0.05)
        assert judged(story_builder) == (expected, expected == "inconclusive")


def test_one_expectation_s_noise_excuses_no_other_one(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.noise = delayed((0.9, {}), (9.9, {"the client": 0.11}))
    story_builder.expect(TIME, "equals", "8.60s", within_absolute=0.05)
    story_builder.expect(TIME, "at_most", "7s", within_absolute=0.05)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert (judgement.verdict, judgement.noisy) == ("fail", False)
    assert [one.outcome for one in judgement.judged] == ["inconclusive", "failed"]


@pytest.mark.parametrize(("lost_s", "expected"), [(0.0, "fail"), (0.11, "inconclusive")])
def test_a_count_that_differs_beside_a_time_that_was_late_is_tried_again(
    blackholed: Make, lost_s: float, expected: str
) -> None:
    story_builder = blackholed()
    story_builder.noise = delayed((0.9, {}), (9.9, {"the client": lost_s}))
    story_builder.expect("probe.dials", "equals", "5")
    assert judged(story_builder) == ("fail", False)
    story_builder.expect(TIME, "equals", "8.60s", within_absolute=0.05)
    assert judged(story_builder) == (expected, expected == "inconclusive")


def recovered(story_builder: Any, *, healed_s: float, answered_s: float, lost_s: float = 0.001) -> Any:
    """A link is dark from 1 s for 600 ms; a request of 1.002 s is answered. Retransmissions: 0.204, 0.408, 0.816 s."""
    story_builder.inject(proven=True, at_s=1.0, healing_s=1.6, healed_s=healed_s)
    story_builder.steps[-1] = PlannedFault(fault=FAULTS["blackhole"](), alias="outage", for_s=0.6)
    story_builder.begin(1.002)
    story_builder.end(1.002, answered_s, "ok")
    story_builder.noise = delayed((0.9, {}), (9.0, {"the client": lost_s}))
    return story_builder


RECOVERY = "next_retransmission(outage.lasts) - outage.lasts"


def test_a_measure_of_a_fault_is_judged_by_the_lateness_since_the_fault(story_builder: Any) -> None:
    for lost_s, expected in [(0.001, "fail"), (0.2, "inconclusive")]:
        story_builder.__init__()
        recovered(story_builder, healed_s=1.602, answered_s=1.95, lost_s=lost_s)
        story_builder.expect("outage.recovery", "equals", RECOVERY, within_absolute=0.05)
        assert judged(story_builder) == (expected, expected == "inconclusive")


def test_a_recovery_may_have_begun_as_soon_as_the_healing_did(story_builder: Any) -> None:
    """The lab knows of the healing at 1.7 s; the client may have been rid of the fault since 1.6 s."""
    for healing_s, expected in [(1.6, "inconclusive"), (1.69, "fail")]:
        story_builder.__init__()
        recovered(story_builder, healed_s=1.7, answered_s=1.72)
        story_builder.faults[0] = replace(story_builder.faults[0], healing_ns=round(healing_s * 1e9))
        story_builder.expect("outage.recovery", "equals", "0.1s", within_absolute=0.05)
        assert judged(story_builder) == (expected, expected == "inconclusive")
        story_builder.expectations.clear()
        story_builder.expect("outage.recovery", "at_most", "0.05s")
        assert judged(story_builder) == ("pass", False)


def test_what_the_lab_lost_between_the_steps_counts_for_a_fault(story_builder: Any) -> None:
    """The send was called 130 ms after the fault, though nothing was to come between them."""
    story_builder.inject(proven=True, at_s=1.0, healing_s=1.6, healed_s=1.601)
    story_builder.steps[-1] = PlannedFault(fault=FAULTS["blackhole"](), alias="outage", for_s=0.6)
    story_builder.begin(1.13)
    story_builder.end(1.13, 1.95, "ok")
    story_builder.noise = delayed((0.9, {}), (9.0, {"the client": 0.001}))
    story_builder.expect("outage.recovery", "equals", RECOVERY, within_absolute=0.05)
    assert judged(story_builder) == ("inconclusive", True)


def test_a_healing_that_came_late_may_have_missed_a_retransmission(story_builder: Any) -> None:
    """Healed 225 ms late, just behind the retransmission at 0.816 s: the next one comes 0.8 s later."""
    for healed_s, expected in [(1.825, "inconclusive"), (1.603, "fail")]:
        story_builder.__init__()
        recovered(story_builder, healed_s=healed_s, answered_s=2.64)
        story_builder.expect("outage.outage", "equals", "next_retransmission(outage.lasts)", within_absolute=0.05)
        assert judged(story_builder) == (expected, expected == "inconclusive")


def test_a_request_that_came_late_may_have_been_carried_over_earlier(story_builder: Any) -> None:
    """For a request that was sent 300 ms late the link is dark for 0.3 s: that after 0.408 s is enough."""
    for lost_s, expected in [(0.3, "inconclusive"), (0.02, "fail")]:
        story_builder.__init__()
        recovered(story_builder, healed_s=1.602, answered_s=1.72, lost_s=lost_s)
        story_builder.expect("outage.recovery", "equals", RECOVERY, within_absolute=0.05)
        assert judged(story_builder) == (expected, expected == "inconclusive")


def test_a_world_that_counts_no_delays_is_judged_by_its_timers(blackholed: Make) -> None:
    """Nine waits that are each 9 ms late, and the answer, may add 90 ms; more than that is a failure."""
    for formula, expected in [("8.651s", "inconclusive"), ("8.551s", "fail")]:
        story_builder = blackholed()
        story_builder.noise = delayed(lag_s=0.009)
        story_builder.expect(TIME, "equals", formula, within_absolute=0.05)
        assert judged(story_builder) == (expected, expected == "inconclusive")


def test_counts_are_not_late(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.noise = delayed((0.9, {}), (9.9, {"the client": 3.0}))
    story_builder.expect("probe.dials", "equals", "4")
    assert judged(story_builder) == ("pass", False)


def test_a_statistic_of_times_takes_no_run_that_was_later_than_its_tolerance(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.noise = delayed((0.9, {}), (9.9, {"the client": 0.06}))
    for within_s, noisy in [(0.05, True), (0.5, False)]:
        story_builder.statistics = [
            Statistic(
                statistic="mean", of=TIME, unit="s", kind="equals", formula="8.75s", highest=60.0,
                within_absolute=within_s,
            )
        ]  # fmt: skip
        assert judged(story_builder) == ("inconclusive" if noisy else "pass", noisy)
