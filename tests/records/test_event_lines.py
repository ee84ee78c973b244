"""Protects the short way from a value to a line of events.jsonl: it writes what the record itself would write."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.records.event import EventRecord, lines_of

ADDRESS = ("run_id", "attempt", "at_ns", "source", "source_seq", "kind")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
VALUES = {str: TEXTS, int: NUMBERS, float: st.floats(allow_nan=False, allow_infinity=False)}


def values_of(name: str) -> st.SearchStrategy[object]:
    declared = EventRecord.model_fields[name].annotation
    kind = next(kind for kind in VALUES if declared in (kind, kind | None))
    return VALUES[kind]


@given(st.fixed_dictionaries(
    {name: values_of(name) for name in ADDRESS},
    optional={name: values_of(name) for name in EventRecord.model_fields if name not in ADDRESS},
))  # fmt: skip
def test_a_line_is_what_the_record_writes(event: dict[str, object]) -> None:
    fields = {name: value for name, value in event.items() if name not in ADDRESS}
    run_id, attempt, *told = (event[name] for name in ADDRESS)
    (line,) = lines_of(run_id, attempt, [(*told, fields)])  # type: ignore[arg-type, list-item]
    record = EventRecord.model_validate(event)
    assert json.loads(line) == json.loads(record.model_dump_json(exclude_none=True))
    assert EventRecord.model_validate_json(line) == record
    assert line.endswith(b"}\n")


def test_a_field_that_no_event_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no field colour"):
        lines_of("a", 1, [(0, "subject", 0, "state", {"colour": "red"})])
