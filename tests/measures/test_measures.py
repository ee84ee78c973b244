"""Protects what the lab says it measured: values, lower bounds, and reasons instead of invented zeros."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.measures import (
    MEASURES,
    Censored,
    MeasuredValue,
    MeasureName,
    MeasureResult,
    Missing,
    RunView,
    WrongOutcome,
    parse,
)
from harness.measures import take as take_measure
from harness.operations import names_where


def take(story_builder: Any, text: str) -> MeasureResult:
    return take_measure(RunView(story_builder.plan(), story_builder.story()), parse(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("probe.time_to_error", 8.751), ("probe.time_to_end", 8.751), ("warm_up.time_to_ack", 0.005),
        ("probe.dials", 4), ("probe.attempts", 1), ("probe.waits(Net.ReadTimeout)", 2), ("probe.waits(DialTimeout)", 4),
        ("probe.waits(Net.WriteTimeout)", 0), ("probe.waited(Metadata.Retry.Backoff)", 0.75),
        ("warm_up.waits(Net.ReadTimeout)", 0), ("warm_up.waited(Net.ReadTimeout)", 0.004), ("warm_up.dials", 1),
    ],
)  # fmt: skip
def test_values_of_a_blackholed_send(blackholed: Callable[[], Any], text: str, value: float) -> None:
    assert take(blackholed(), text) == MeasuredValue(pytest.approx(value, abs=1e-9))


def test_the_wrong_outcome_is_no_time(blackholed: Callable[[], Any]) -> None:
    in_force = blackholed()
    in_force.faults.clear()
    in_force.inject(proven=True, at_s=0.0)
    assert take(in_force, "warm_up.time_to_error") == WrongOutcome(
        "`warm_up` succeeded after 0.005 s: there was no error", "ok"
    )
    missing = take(blackholed(), "probe.time_to_ack")
    assert isinstance(missing, WrongOutcome)
    assert missing.outcome == "failed"
    assert "run out of available brokers" in missing.reason


def test_an_operation_that_never_ran_has_no_measure(blackholed: Callable[[], Any]) -> None:
    for name, definition in MEASURES.items():
        if names_where(definition.applies_to) and not definition.integrity:
            assert take(blackholed(), str(MeasureName("later", name))) == Missing("`later` never ran")


def test_what_had_not_ended_is_a_lower_bound(story_builder: Any) -> None:
    story_builder.begin(0.0)
    story_builder.add_event(0.0, "attempt_started", operation="probe", try_number=1)
    story_builder.add_event(0.5, "dial_started", connection=1)
    story_builder.wait(0.5, 1.5, "Net.DialTimeout", connection=1)
    story_builder.add_event(1.5, "wait_started", waiting_on="Net.ReadTimeout", connection=1)
    story_builder.end(0.0, 3.0, "censored")
    story_builder.add_event(3.5, "wait_ended", waiting_on="Net.ReadTimeout", connection=1, outcome="elapsed")
    story_builder.add_event(3.5, "dial_started", connection=2)
    for text, bound in [
        ("time_to_error", 3.0), ("time_to_ack", 3.0), ("time_to_end", 3.0), ("dials", 1), ("attempts", 1),
        ("waits(Net.ReadTimeout)", 0), ("waited(Net.ReadTimeout)", 1.5), ("waits(Net.DialTimeout)", 1),
    ]:  # fmt: skip
        assert take(story_builder, f"probe.{text}") == Censored(bound), text


def test_a_program_without_a_trace_has_no_counts_instead_of_zeros(story_builder: Any) -> None:
    story_builder.begin(0.0)
    story_builder.end(0.0, 1.0, "failed")
    assert take(story_builder, "probe.dials") == Missing("the client's trace has no dial_started")
    assert take(story_builder, "probe.attempts") == Missing("the client's trace has no attempt_started")
    assert take(story_builder, "probe.waits(Net.ReadTimeout)") == Missing("the client's trace has no wait_started")
    assert take(story_builder, "probe.time_to_error") == MeasuredValue(1.0)


def test_a_bundled_client_that_traces_and_did_not_dial_has_zero_dials(story_builder: Any) -> None:
    story_builder.begin(0.0)
    story_builder.wait(0.0, 1.0, "Net.ReadTimeout")
    story_builder.end(0.0, 1.0, "failed")
    story_builder.driver = "bundled"
    assert take(story_builder, "probe.dials") == MeasuredValue(0)


def test_a_background_timer_that_spans_the_operation_is_not_its_wait(story_builder: Any) -> None:
    story_builder.add_event(0.0, "wait_started", waiting_on="Metadata.RefreshFrequency")
    story_builder.begin(1.0)
    story_builder.wait(1.0, 3.0, "Net.ReadTimeout")
    story_builder.end(1.0, 3.0, "failed")
    story_builder.add_event(600.0, "wait_ended", waiting_on="Metadata.RefreshFrequency", outcome="elapsed")
    assert take(story_builder, "probe.waited(Metadata.RefreshFrequency)") == MeasuredValue(0)


def test_a_wait_that_was_already_running_counts_from_the_call(story_builder: Any) -> None:
    story_builder.add_event(0.0, "wait_started", waiting_on="Net.ReadTimeout")
    story_builder.begin(1.0)
    story_builder.add_event(2.0, "wait_ended", waiting_on="Net.ReadTimeout", outcome="elapsed")
    story_builder.end(1.0, 2.0, "failed")
    assert take(story_builder, "probe.waited(Net.ReadTimeout)") == MeasuredValue(1.0)
    assert take(story_builder, "probe.waits(Net.ReadTimeout)") == MeasuredValue(1)


@pytest.mark.parametrize("text", ["probe", "probe.", ".dials", "probe.waits(", "a b.dials", "probe.waits(a)b", ""])
def test_what_is_no_name_of_a_measure_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not spelt"):
        parse(text)


def test_names_are_taken_apart_and_put_together() -> None:
    assert parse("probe.waits( request.timeout.ms )") == MeasureName("probe", "waits", "request.timeout.ms")
    for text in ("a-1.dials", "probe.waits(Net.ReadTimeout)"):
        assert str(parse(text)) == text
