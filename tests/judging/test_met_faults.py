"""Protects that nothing passes on a fault that met nothing of what is judged."""

from typing import Any

import pytest

from harness.judging import judge
from harness.plan import Statistic

SHARE = Statistic(
    statistic="share", of="probe.outcome == 'ok'", unit="share", kind="at_least", formula="0.9", within_absolute=0.05
)


@pytest.mark.parametrize(
    ("expected", "met_by", "verdict"),
    [
        ("probe.time_to_end", ("probe",), "pass"), ("probe.time_to_end", (), "inconclusive"),
        ("probe.time_to_end", ("filler",), "inconclusive"), ("probe.time_to_end", ("probe#2",), "pass"),
        ("probe.time_to_end", None, "pass"), ("outage.recovery", ("filler",), "pass"),
        ("outage.recovery", ("warm_up",), "inconclusive"), ("outage.recovery", (), "inconclusive"),
        (SHARE, ("probe",), "pass"), (SHARE, ("filler",), "inconclusive"),
    ],
)  # fmt: skip
def test_a_fault_has_to_meet_what_is_judged(
    story_builder: Any, expected: str | Statistic, met_by: tuple[str, ...] | None, verdict: str
) -> None:
    story_builder.begin(0.0, "warm_up")
    story_builder.end(0.0, 0.5, "ok", "warm_up")
    story_builder.inject(proven=True, at_s=1.0, healing_s=3.0, healed_s=3.0, met_by=met_by)
    for number, alias in enumerate(("filler", "probe", "probe#2")):
        story_builder.begin(1.0 + number, alias)
        story_builder.end(1.0 + number, 2.0 + number, "ok", alias)
    if isinstance(expected, Statistic):
        story_builder.statistics.append(expected)
    else:
        story_builder.expect(expected, "at_most", "5s")
    judgement = judge(story_builder.plan(), story_builder.story())
    assert judgement.verdict == verdict, judgement.reasons
    assert any("met nothing" in reason for reason in judgement.reasons) == (verdict == "inconclusive")


def test_an_expectation_that_is_skipped_judges_nothing_and_a_steps_own_does(story_builder: Any) -> None:
    story_builder.inject(proven=True, met_by=("probe",))
    story_builder.begin(1.0, "other")
    story_builder.end(1.0, 2.0, "ok", "other")
    story_builder.begin(2.0)
    story_builder.end(2.0, 3.0, "ok")
    story_builder.expect("probe.time_to_end", "at_most", "5s", when="cluster.brokers == 9")
    story_builder.expect("other.time_to_end", "at_most", "5s")
    assert judge(story_builder.plan(), story_builder.story()).verdict == "inconclusive"
    story_builder.steps[-1] = story_builder.steps[-1].__class__(operation="send", alias="probe", expect="ok")
    assert judge(story_builder.plan(), story_builder.story()).verdict == "pass"
