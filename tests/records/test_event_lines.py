"""Protects the short way from a value to a line of events.jsonl: it writes what the record itself would write."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.event import EventRecord, encode_events

ADDRESS = ("run_id", "attempt", "at_ns", "source", "source_seq", "kind")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
VALUES = {str: TEXTS, int: NUMBERS, float: st.floats(allow_nan=False, allow_infinity=False)}


def values_of(name: str) -> st.SearchStrategy[object]:
    declared = EventRecord.model_fields[name].annotation
    kind = next(kind for kind in VALUES if declared in (kind, kind | None))
    return VALUES[kind]


EVENTS = st.fixed_dictionaries(
    {name: values_of(name) for name in ADDRESS},
    optional={name: values_of(name) for name in EventRecord.model_fields if name not in ADDRESS},
)


@given(st.text(max_size=20), NUMBERS, st.lists(EVENTS, max_size=4))
def test_a_line_is_what_the_record_writes(run_id: str, attempt: int, events: list[dict[str, object]]) -> None:
    whole = [{**event, "run_id": run_id, "attempt": attempt} for event in events]
    told = [(*(event.pop(name) for name in ADDRESS[2:]), _without_address(event)) for event in events]
    lines = encode_events(run_id, attempt, told)  # type: ignore[arg-type]
    records = [EventRecord.model_validate(event) for event in whole]
    assert lines.endswith(b"}\n") or not events
    assert [json.loads(line) for line in lines.split(b"\n")[:-1]] == [
        json.loads(record.model_dump_json(exclude_none=True)) for record in records
    ]
    assert [EventRecord.model_validate_json(line) for line in lines.split(b"\n")[:-1]] == records


def _without_address(event: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in event.items() if name not in ADDRESS}


@given(st.lists(st.sampled_from(['"', "\\", "}", ",", "{", '"at_ns":', "\n"]), max_size=12).map("".join))
def test_no_text_looks_like_the_border_of_two_events(text: str) -> None:
    fields = {"text": text, "error": f'{text}}},{{"at_ns":1'}
    lines = encode_events('},{"at_ns":', 1, [(0, text, 0, text, fields)] * 2)
    assert len(lines.split(b"\n")) == 3
    assert [json.loads(line)["error"] for line in lines.split(b"\n")[:-1]] == [fields["error"]] * 2


def test_a_field_that_no_event_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no field colour"):
        encode_events("a", 1, [(0, "subject", 0, "state", {"colour": "red"})])
