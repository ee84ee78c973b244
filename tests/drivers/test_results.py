"""Protects what an operation returns: its declared fields in their kinds, and nothing else."""

import json
from typing import Any

import pytest

from harness.drivers.errors import SubjectError
from harness.drivers.protocol import Ok, parse
from harness.operations import ResultField
from harness.records.run import OperationRecord
from harness.story import OperationStory, Outcome
from harness.suite.recording import operation_record
from harness.suite.restoring import restore_operation

FIELDS = (
    ResultField(name="committed", kind="integer", about="the offset that was committed"),
    ResultField(name="lag_s", kind="number", about="how far behind"),
    ResultField(name="member", kind="text", about="the group member"),
)


def ok(**fields: Any) -> bytes:
    return json.dumps({"ev": "ok", "id": "p", "at_ns": 5, **fields}).encode()


def test_declared_fields_are_read_and_others_ignored() -> None:
    line = ok(committed=7, lag_s=2, member="m-1", colour="red", offset="none of ours")
    assert parse(line, lambda _: FIELDS) == Ok("p", 5, {"committed": 7, "lag_s": 2.0, "member": "m-1"})
    assert parse(line) == Ok("p", 5, {})


def test_the_call_says_which_fields_there_are() -> None:
    assert parse(ok(member="m-1"), {"p": FIELDS, "q": ()}.__getitem__) == Ok("p", 5, {"member": "m-1"})


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("committed", "7", "has a `committed` that is no 64-bit integer"),
        ("lag_s", "2", "has a `lag_s` that is no number"),
        ("member", 1, "has a `member` that is no text"),
    ],
)
def test_a_field_of_another_kind_is_refused(field: str, value: object, text: str) -> None:
    with pytest.raises(SubjectError, match=text):
        parse(ok(**{field: value}), lambda _: FIELDS)


def test_further_fields_stand_in_the_record_and_come_back() -> None:
    story = OperationStory(
        alias="p", operation="poll", started_ns=1, ended_ns=2, outcome=Outcome.OK,
        result={"partition": 0, "offset": 5, "member": "m-1", "committed": 7},
    )  # fmt: skip
    record = operation_record(story)
    assert (record.partition, record.offset) == (0, 5)
    assert {one.name: one.text for one in record.result} == {"member": "m-1", "committed": "7"}
    again = OperationRecord.model_validate_json(record.model_dump_json())
    assert restore_operation(again) == story


def test_a_record_without_further_fields_has_no_such_list() -> None:
    story = OperationStory(
        alias="p", operation="send", started_ns=1, ended_ns=2, outcome=Outcome.OK, result={"offset": 5}
    )
    assert "result" not in json.loads(operation_record(story).model_dump_json())
