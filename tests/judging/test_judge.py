"""Protects the verdict: no data never passes, an unproven fault tests nothing. test_noise.py has noise."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.judging import judge
from harness.plan import Statistic
from harness.story import LabError, Noise

RIGHT = "2*Net.ReadTimeout + 4*Net.DialTimeout + 3*Metadata.Retry.Backoff"
WRONG = "Net.WriteTimeout + 4*Net.DialTimeout"
TIME = "probe.time_to_error"
Make = Callable[[], Any]


def verdict(story_builder: Any) -> str:
    return judge(story_builder.plan(), story_builder.story()).verdict


def test_the_right_formula_passes_and_shows_its_terms(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.expect(TIME, "equals", RIGHT, within_relative=0.01, within_absolute=0.05, source="client.go", line=7)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert (judgement.verdict, judgement.reasons, judgement.noisy) == ("pass", (), False)
    (judged,) = judgement.judged
    assert (judged.outcome, judged.predicted, judged.measured) == ("held", 8.75, pytest.approx(8.751))
    assert (judged.low, judged.high) == (pytest.approx(8.6125), pytest.approx(8.8875))
    assert [(t.setting, t.count, t.total) for t in judged.terms] == [
        ("Net.ReadTimeout", 2, 4.0), ("Net.DialTimeout", 4, 4.0), ("Metadata.Retry.Backoff", 3, 0.75),
    ]  # fmt: skip
    assert (judged.source, judged.line, judged.unit) == ("client.go", 7, "s")


@pytest.mark.parametrize(
    ("kind", "formula", "held"),
    [
        ("equals", WRONG, False), ("equals", "8.70s", True), ("equals", "8.69s", False), ("equals", "8.80s", True),
        ("equals", "8.81s", False), ("at_most", "8.70s", True), ("at_most", "8.69s", False), ("at_most", "60s", True),
        ("at_least", "8.80s", True), ("at_least", "8.81s", False), ("at_least", "1s", True),
    ],
)  # fmt: skip
def test_bounds_have_their_side_and_their_tolerance(blackholed: Make, kind: str, formula: str, held: bool) -> None:
    story_builder = blackholed()
    story_builder.noise = Noise(loop_lag_p99_s=0.0, loop_lag_max_s=0.0, samples=100)
    story_builder.expect(TIME, kind, formula, within_absolute=0.051 if held else 0.05)
    assert verdict(story_builder) == ("pass" if held else "fail")


def test_counts_are_exact(blackholed: Make) -> None:
    for formula, expected in [("cluster.brokers + 3", "pass"), ("5", "fail"), ("3", "fail")]:
        story_builder = blackholed()
        story_builder.expect("probe.dials", "equals", formula)
        assert verdict(story_builder) == expected


@pytest.mark.parametrize(
    ("formula", "holds", "outcome", "expected"),
    [
        (WRONG, False, "refuted", "pass"), (WRONG, None, "refuted", "pass"), (WRONG, True, "refuted", "fail"),
        (RIGHT, True, "held", "pass"), (RIGHT, None, "held", "pass"), (RIGHT, False, "held", "fail"),
    ],
)  # fmt: skip
def test_a_claim_fails_only_against_its_own_holds(
    blackholed: Make, formula: str, holds: bool | None, outcome: str, expected: str
) -> None:
    story_builder = blackholed()
    story_builder.expect(TIME, "claim", formula, within_absolute=0.05, holds=holds)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert (judgement.judged[0].outcome, judgement.verdict) == (outcome, expected)
    assert judgement.judged[0].fails_run == (expected == "fail")


def test_a_false_when_is_skipped_and_all_skipped_proves_nothing(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.expect(TIME, "equals", WRONG, within_absolute=0.05, when="client.version == '1.60.1'")
    judgement = judge(story_builder.plan(), story_builder.story())
    assert (judgement.verdict, judgement.judged[0].outcome) == ("inconclusive", "skipped")
    assert "every expectation was skipped" in judgement.reasons[0]
    story_builder.expect(TIME, "equals", RIGHT, within_absolute=0.05, when="client.version == '1.27.2'")
    assert verdict(story_builder) == "pass"


def test_nothing_expected_proves_nothing(blackholed: Make) -> None:
    assert verdict(blackholed()) == "inconclusive"


@pytest.mark.parametrize(
    ("kind", "formula", "outcome", "expected"),
    [
        ("equals", "8s", "failed", "fail"), ("at_most", "8s", "failed", "fail"), ("claim", "8s", "refuted", "pass"),
        ("equals", "60s", "inconclusive", "inconclusive"), ("at_most", "60s", "inconclusive", "inconclusive"),
        ("at_least", "8s", "held", "pass"), ("at_least", "60s", "inconclusive", "inconclusive"),
    ],
)  # fmt: skip
def test_a_lower_bound_decides_only_what_it_can(
    story_builder: Any, kind: str, formula: str, outcome: str, expected: str
) -> None:
    story_builder.begin(0.0)
    story_builder.inject(proven=True)
    story_builder.end(0.0, 20.0, "censored")
    story_builder.expect(TIME, kind, formula, within_absolute=0.05)
    judgement = judge(story_builder.plan(), story_builder.story())
    (judged,) = judgement.judged
    assert (judged.outcome, judged.censored_at, judged.measured) == (outcome, 20.0, None)
    assert judgement.verdict == expected


def test_no_data_never_passes(story_builder: Any) -> None:
    story_builder.begin(0.0)
    story_builder.end(0.0, 0.004, "ok")
    story_builder.expect("later.time_to_end", "at_most", "60s", within_absolute=0.05)
    story_builder.expect("probe.dials", "at_least", "1")
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.verdict == "inconclusive"
    assert judgement.reasons == (
        "later.time_to_end: `later` never ran",
        "probe.dials: the client's trace has no dial_started",
    )
    names = ("later.time_to_end", "probe.dials")
    assert [m.missing is not None for m in judgement.measures if m.name in names] == [True, True]


@pytest.mark.parametrize(("formula", "shown"), [(RIGHT, 0), (WRONG, 1)])
def test_an_unproven_fault_neither_passes_nor_fails(blackholed: Make, formula: str, shown: int) -> None:
    story_builder = blackholed()
    story_builder.faults.clear()
    story_builder.inject(proven=False, finding="dropped 0 packets: nothing was tested")
    story_builder.expect(TIME, "equals", formula, within_absolute=0.05)
    story_builder.expect(TIME, "claim", WRONG, within_absolute=0.05, holds=False)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.verdict == "inconclusive"
    assert judgement.reasons[0] == "fault `outage` dropped 0 packets: nothing was tested"
    assert [judged.outcome for judged in judgement.judged] == ["inconclusive", "inconclusive"]
    assert not any(judged.fails_run for judged in judgement.judged)
    assert len([reason for reason in judgement.reasons if "shows nothing" in reason]) == shown


UNMET = "`warm_up` was expected to be acknowledged, but failed"


def test_an_unmet_step_before_the_first_fault_is_inconclusive_whatever_else_was_measured(story_builder: Any) -> None:
    story_builder.begin(0.0, "warm_up")
    story_builder.end(0.0, 2.0, "failed", "warm_up", unmet=UNMET)
    story_builder.inject(proven=True)
    story_builder.faults.clear()  # the run ended before
    story_builder.expect("warm_up.time_to_error", "equals", "1s", within_absolute=0.05)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.verdict == "inconclusive"
    assert judgement.reasons[0] == UNMET


@pytest.mark.parametrize(("proven", "expected"), [(True, "fail"), (False, "inconclusive"), (None, "fail")])
def test_an_unmet_step_under_a_proven_fault_or_without_any_fails(
    story_builder: Any, proven: bool | None, expected: str
) -> None:
    if proven is not None:
        story_builder.inject(proven=proven)
    story_builder.begin(1.0, "warm_up")
    story_builder.end(1.0, 2.0, "failed", "warm_up", unmet=UNMET)
    story_builder.expect("warm_up.time_to_end", "at_most", "5s")
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.verdict == expected
    first, second = judgement.judged
    assert (first.measure, first.unit, first.measured_text) == ("warm_up.outcome", "text", "failed")
    assert (first.fails_run, second.outcome) == ((True, "held") if expected == "fail" else (False, "inconclusive"))
    assert any(UNMET in reason for reason in judgement.reasons)


@pytest.mark.parametrize(
    ("outcome", "measure", "kind", "expected"),
    [
        ("failed", "probe.time_to_ack", "at_most", "fail"), ("failed", "probe.time_to_ack", "at_least", "fail"),
        ("ok", "probe.time_to_error", "equals", "fail"), ("ok", "probe.time_to_error", "claim", "inconclusive"),
        ("failed", "warm_up.time_to_ack", "at_most", "inconclusive"), ("ok", "probe.time_to_ack", "at_most", "pass"),
    ],
)  # fmt: skip
def test_an_operation_that_ends_the_other_way_under_a_fault_did_not_hold(
    story_builder: Any, outcome: str, measure: str, kind: str, expected: str
) -> None:
    story_builder.begin(0.0, "warm_up")
    story_builder.end(0.0, 0.5, outcome, "warm_up")
    story_builder.inject(proven=True, at_s=1.0)
    story_builder.begin(1.0)
    story_builder.end(1.0, 2.0, outcome)
    story_builder.expect(measure, kind, "1s", within_absolute=0.05, holds=False if kind == "claim" else None)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.verdict == expected, judgement.reasons
    assert judgement.judged[0].measured_text == (outcome if expected == "fail" or kind == "claim" else None)


@pytest.mark.parametrize(
    ("word", "alias", "expected"),
    [("failed", "probe", "pass"), ("ok", "probe", "fail"), ("ok", "warm_up", "pass"),
     ("failed", "warm_up", "inconclusive"), ("ok", "later", "inconclusive")],
)  # fmt: skip
def test_an_outcome_is_an_expectation(blackholed: Make, word: str, alias: str, expected: str) -> None:
    story_builder = blackholed()
    story_builder.faults.clear()
    story_builder.steps = [step for step in story_builder.steps if step.alias != "outage"]
    story_builder.inject(proven=True, at_s=0.5)
    story_builder.expect(f"{alias}.outcome", "equals", word)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.verdict == expected, judgement.reasons
    assert judgement.judged[0].measured_text == {"probe": "failed", "warm_up": "ok"}.get(alias)


@pytest.mark.parametrize(
    ("ends", "within", "expected"),
    [(("8s", "9s"), 0.0, "pass"), (("8.76s", "9s"), 0.0, "fail"), (("8.76s", "9s"), 0.05, "pass"),
     (("4*Net.DialTimeout", "8.74s"), 0.0, "fail"), (("4*Net.DialTimeout", "8.74s"), 0.05, "pass")],
)  # fmt: skip
def test_a_range_has_two_ends(blackholed: Make, ends: tuple[str, str], within: float, expected: str) -> None:
    story_builder = blackholed()
    story_builder.expect(TIME, "between", f"[{', '.join(ends)}]", ends=ends, within_absolute=within)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.verdict == expected, judgement.reasons
    assert judgement.judged[0].measured == pytest.approx(8.751)


def test_a_count_may_have_a_tolerance(blackholed: Make) -> None:
    for formula, expected in [("5", "pass"), ("3", "pass"), ("6", "fail")]:
        story_builder = blackholed()
        story_builder.expect("probe.dials", "equals", formula, within_absolute=1.0)
        assert verdict(story_builder) == expected


def test_a_lab_error_is_a_lab_error(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.error = LabError(code="world-failed", text="toxiproxy ended by itself")
    story_builder.expect(TIME, "equals", WRONG, within_absolute=0.05)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert (judgement.verdict, judgement.judged[0].outcome) == ("lab_error", "inconclusive")
    assert judgement.reasons[0] == "toxiproxy ended by itself"


def test_a_failure_weighs_more_than_what_could_not_be_measured(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.expect(TIME, "equals", WRONG, within_absolute=0.05)
    story_builder.expect("later.time_to_ack", "at_most", "1s", within_absolute=0.05)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.verdict == "fail"
    assert judgement.reasons[0] == "probe.time_to_error: 8.751 s is above 7.050 s (equals 7.000 s)"


def test_every_measure_of_every_operation_is_listed(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.expect("probe.time_to_ack", "at_most", "1s", within_absolute=0.05)
    found = {measure.name: measure for measure in judge(story_builder.plan(), story_builder.story()).measures}
    assert {"warm_up.time_to_ack", "warm_up.dials", "probe.time_to_error", "probe.dials", "probe.attempts",
            "probe.waits(Net.ReadTimeout)", "probe.waited(Net.DialTimeout)"} <= set(found)  # fmt: skip
    assert "warm_up.time_to_error" not in found
    assert found["probe.time_to_ack"].missing is not None


def statistic(**more: Any) -> Statistic:
    told = {"statistic": "mean", "of": TIME, "unit": "s", "kind": "equals", "formula": RIGHT, "highest": 60.0}
    return Statistic(**{**told, **more})  # type: ignore[arg-type]


def test_a_run_that_counts_only_together_with_others_passes_where_it_is_sound(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.statistics.append(statistic(within_absolute=0.05))
    judgement = judge(story_builder.plan(), story_builder.story())
    assert (judgement.verdict, judgement.reasons) == ("pass", ())
    assert TIME in [measure.name for measure in judgement.measures]
    story_builder.statistics = [statistic(within_absolute=0.05, when="cluster.brokers == 3")]
    assert judge(story_builder.plan(), story_builder.story()).verdict == "inconclusive"


def test_a_world_that_had_not_settled_leaves_the_run_inconclusive(blackholed: Make) -> None:
    story_builder = blackholed()
    story_builder.expect("probe.zombies", "equals", "0")
    story_builder.expect(TIME, "equals", RIGHT, within_absolute=0.05)
    story_builder.log("warm_up", complete=True)
    assert verdict(story_builder) == "pass"
    story_builder.log(complete=False)
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.verdict == "inconclusive"
    assert judgement.reasons[0] == "the world had not settled after 2 s: its log is not the last word"


@pytest.mark.parametrize(("lag_s", "expected"), [(0.09, "fail"), (0.11, "inconclusive")])
@pytest.mark.parametrize("unmet", [None, UNMET])
def test_an_operation_that_lost_much_of_its_time_to_lateness_may_have_ended_the_other_way(
    story_builder: Any, unmet: str | None, lag_s: float, expected: str
) -> None:
    story_builder.inject(proven=True)
    story_builder.begin(1.0)
    story_builder.end(1.0, 2.0, "failed", unmet=unmet)
    story_builder.noise = Noise(loop_lag_p99_s=lag_s, loop_lag_max_s=lag_s, samples=100)
    story_builder.expect("probe.time_to_end" if unmet else "probe.time_to_ack", "at_most", "5s")
    judgement = judge(story_builder.plan(), story_builder.story())
    assert (judgement.verdict, judgement.noisy) == (expected, expected == "inconclusive"), judgement.reasons
