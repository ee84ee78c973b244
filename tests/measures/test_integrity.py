"""Protects what is said of the log: lost, doubled, late, overtaken; and nothing before it settled."""

from typing import Any

import pytest

from harness.judging.measuring import all_measures
from harness.measures import MeasuredValue, MeasureResult, Missing, RunView, parse
from harness.measures import take as take_measure


def take(story_builder: Any, text: str) -> MeasureResult:
    return take_measure(RunView(story_builder.plan(), story_builder.story()), parse(text))


@pytest.fixture
def sent(story_builder: Any) -> Any:
    """Three sends: acknowledged, failed, given up by the lab; the second is the second call of its step."""
    for number, (alias, outcome) in enumerate((("first", "ok"), ("probe#2", "failed"), ("last", "censored"))):
        story_builder.begin(float(number), alias)
        story_builder.end(float(number), number + 0.5, outcome, alias)
    return story_builder


@pytest.mark.parametrize(
    ("log", "counts"),
    [
        (("first",), {"lost": 0, "duplicates": 0, "zombies": 0, "reordered": 0}),
        ((), {"lost": 1, "duplicates": 0, "zombies": 0, "reordered": 0}),
        (("first", "probe#2"), {"lost": 0, "duplicates": 0, "zombies": 1, "reordered": 0}),
        # What the lab gave up on was never answered: neither lost nor a zombie, whatever became of it.
        (("first", "last"), {"lost": 0, "duplicates": 0, "zombies": 0, "reordered": 0}),
        (("first", "first", "probe#2", "first"), {"lost": 0, "duplicates": 2, "zombies": 1, "reordered": 0}),
        (("last", "probe#2", "first"), {"lost": 0, "duplicates": 0, "zombies": 1, "reordered": 2}),
        # A late second copy does not make its message late.
        (("first", "probe#2", "first"), {"lost": 0, "duplicates": 1, "zombies": 1, "reordered": 0}),
    ],
)
def test_counts_of_the_whole_run(sent: Any, log: tuple[str, ...], counts: dict[str, int]) -> None:
    sent.log(*log)
    assert {name: take(sent, f"run.{name}") for name in counts} == {
        name: MeasuredValue(n) for name, n in counts.items()
    }


def test_a_step_has_counts_of_its_own_with_all_its_calls(sent: Any) -> None:
    sent.log("probe#2", "probe#2", "first")
    assert take(sent, "probe.zombies") == MeasuredValue(1)
    assert take(sent, "probe.duplicates") == MeasuredValue(1)
    assert take(sent, "first.zombies") == MeasuredValue(0)
    assert take(sent, "first.reordered") == MeasuredValue(1)
    assert take(sent, "probe.reordered") == MeasuredValue(0)


def test_partitions_have_an_order_each(sent: Any) -> None:
    sent.log("last", partition=0)
    sent.log("first", partition=1)
    assert take(sent, "run.reordered") == MeasuredValue(0)


def test_nothing_is_said_of_a_log_that_was_not_read_or_not_complete(sent: Any) -> None:
    assert take(sent, "run.lost") == Missing("the log was not read")
    sent.log("first", complete=False)
    assert take(sent, "run.lost") == Missing("the world had not settled 2 s after the run: the log was not complete")
    sent.log("first")
    assert take(sent, "connect.lost") == Missing("`connect` sent nothing")


def test_a_run_that_read_its_log_records_what_it_found(sent: Any) -> None:
    assert not [m for m in all_measures(RunView(sent.plan(), sent.story())) if m.name.startswith("run.")]
    sent.log("first", "probe#2")
    found = {m.name: m.value for m in all_measures(RunView(sent.plan(), sent.story())) if m.name.startswith("run.")}
    assert found == {"run.lost": 0, "run.duplicates": 0, "run.zombies": 1, "run.reordered": 0}
