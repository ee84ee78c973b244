"""Protects explanations at the end of a suite: a story made again from its records is the one that was recorded."""

from dataclasses import replace
from pathlib import Path

from suite_samples import judge_by_hand, plans_of, story_of_error, write_scenario

from harness.records.event import EventRecord
from harness.story import Event, FaultStory, LabError
from harness.suite.recording import event_lines, run_record
from harness.suite.restoring import find_expectation, restore_story


def test_a_story_survives_its_records(tmp_path: Path) -> None:
    (plan,) = plans_of(write_scenario(tmp_path))
    story = replace(
        story_of_error(plan),
        events=(
            Event(at_ns=5, source="subject", source_seq=0, kind="dial_started", fields={"connection": 1, "broker": -1}),
            Event(at_ns=7, source="conductor", source_seq=0, kind="gave_up", fields={"limit_s": 60.0}),
        ),
        faults=(
            FaultStory(
                alias="outage",
                fault="blackhole",
                parameters={"brokers": "all"},
                began_ns=1,
                confirmed_ns=2,
                healed_ns=None,
                proof="packets_dropped",
                count=3.0,
                proven=True,
                finding="dropped 3 packets",
            ),
        ),
        error=LabError(code="world-failed", text="Toxiproxy died"),
    )
    record = run_record(plan, story, judge_by_hand()(plan, story), started_at="", duration_s=1.0)
    events = [EventRecord.model_validate_json(line) for line in event_lines(plan, story).splitlines()]
    assert restore_story(record, events) == story


def test_the_judged_expectation_is_found_in_the_plan(tmp_path: Path) -> None:
    from harness.judging import judge

    (plan,) = plans_of(write_scenario(tmp_path))
    (judged,) = judge(plan, story_of_error(plan)).judged
    assert find_expectation(plan, judged) is plan.expectations[0]
