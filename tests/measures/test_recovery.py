"""Protects recovery and outage: what was acknowledged and stayed so counts, what never was is a lower bound."""

from typing import Any

import pytest

from harness.measures import Censored, MeasuredValue, MeasureResult, Missing, RunView, parse
from harness.measures import take as take_measure

Send = tuple[float, float, str]


def take(story_builder: Any, text: str) -> MeasureResult:
    return take_measure(RunView(story_builder.plan(), story_builder.story()), parse(text))


def told(
    story_builder: Any, *sends: Send, at_s: float = 10.0, healing_s: float | None = None, healed_s: float | None = 14.0
) -> Any:
    """A fault from `at_s` to `healed_s` and sends called at, ended at, ended how; the last alias is the latest call."""
    story_builder.begin(0.0, "warm_up")
    story_builder.end(0.0, 0.1, "ok", "warm_up")
    story_builder.inject(proven=True, at_s=at_s, healing_s=healing_s, healed_s=healed_s)
    for number, (began_s, ended_s, outcome) in enumerate(sends):
        story_builder.begin(began_s, f"s{number}")
        story_builder.end(began_s, ended_s, outcome, f"s{number}")
    return story_builder


@pytest.mark.parametrize(
    ("sends", "recovery_s"),
    [
        # The send that was under way when the link healed comes through.
        (((11.0, 15.5, "ok"),), 1.5),
        # It fails after healing: the next one is the first that counts.
        (((11.0, 15.5, "failed"), (15.5, 16.0, "ok")), 2.0),
        # An acknowledgement behind which another send fails is no steady state yet.
        (((11.0, 14.5, "ok"), (14.5, 17.0, "failed"), (17.0, 17.25, "ok"), (17.25, 17.5, "ok")), 3.25),
        # Two at once: the one that fails later counts, whenever it was called.
        (((11.0, 18.0, "failed"), (12.0, 14.5, "ok"), (18.0, 18.1, "ok")), 4.1),
        # What failed before the healing says nothing about recovery.
        (((11.0, 13.0, "failed"), (13.0, 14.2, "ok")), 0.2),
    ],
)
def test_recovery_is_the_first_acknowledgement_behind_which_no_send_fails(
    story_builder: Any, sends: tuple[Send, ...], recovery_s: float
) -> None:
    told(story_builder, *sends)
    assert take(story_builder, "outage.recovery") == MeasuredValue(pytest.approx(recovery_s))
    assert take(story_builder, "outage.outage") == MeasuredValue(pytest.approx(recovery_s + 4.0))


def test_what_was_not_steady_when_the_lab_looked_last_is_a_lower_bound(story_builder: Any) -> None:
    told(story_builder, (11.0, 14.5, "ok"), (15.0, 20.0, "failed"))
    assert take(story_builder, "outage.recovery") == Censored(pytest.approx(6.0))
    assert take(story_builder, "outage.outage") == Censored(pytest.approx(10.0))


def test_a_send_that_never_ended_is_a_lower_bound_too(story_builder: Any) -> None:
    told(story_builder, (11.0, 74.0, "censored"))
    assert take(story_builder, "outage.recovery") == Censored(pytest.approx(60.0))


def test_without_a_healing_or_a_send_after_it_there_is_nothing_to_measure(story_builder: Any) -> None:
    told(story_builder, (11.0, 13.0, "failed"))
    assert take(story_builder, "outage.recovery") == Missing("no send ended after `outage` was healed")
    assert take(story_builder, "other.recovery") == Missing("`other` was never injected")


def test_a_fault_that_was_not_healed_has_no_recovery(story_builder: Any) -> None:
    told(story_builder, (11.0, 15.0, "ok"), healed_s=None)
    for measure in ("recovery", "outage"):
        assert take(story_builder, f"outage.{measure}") == Missing("`outage` was not healed")


def test_a_client_may_be_quicker_than_the_lab_confirms_the_healing(story_builder: Any) -> None:
    """The signal that lets a paused broker go on works some 200 us before the lab has stamped it."""
    told(story_builder, (11.0, 13.9998, "ok"), healing_s=13.9995)
    assert take(story_builder, "outage.recovery") == MeasuredValue(0.0)
    assert take(story_builder, "outage.outage") == MeasuredValue(pytest.approx(3.9998))


def test_what_was_acknowledged_while_a_fault_was_undone_does_not_count_before_a_failure(story_builder: Any) -> None:
    told(story_builder, (11.0, 13.2, "ok"), (11.0, 14.5, "failed"), (14.5, 15.0, "ok"), healing_s=13.0)
    assert take(story_builder, "outage.recovery") == MeasuredValue(pytest.approx(1.0))


def test_a_failure_while_a_fault_was_undone_says_nothing_of_recovery(story_builder: Any) -> None:
    told(story_builder, (11.0, 13.5, "failed"), healing_s=13.0)
    assert take(story_builder, "outage.recovery") == Missing("no send ended after `outage` was healed")
