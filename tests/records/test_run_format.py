"""Protects docs/RUN_FORMAT.md and the schemas: every field and event that a run can leave is explained there."""

import json
import re
from pathlib import Path

import pytest
import record_samples as sample

from client.events import TraceKind
from harness.records.line import encode_line
from harness.records.run import FORMAT
from harness.records.schema import RECORDS, json_schema
from harness.story import EventKind

WHOLE = (Path(__file__).parents[2] / "docs" / "RUN_FORMAT.md").read_text(encoding="utf-8")
DOCUMENT = WHOLE.partition("\n## What `--json`")[0]
"""As far as it is about the files of a results folder."""


def explained() -> set[str]:
    """Names in the first column of the document's tables."""
    first = re.findall(r"^\| (`[^|]+) \|", DOCUMENT, flags=re.MULTILINE)
    return {name for cell in first for name in re.findall(r"`([a-z_0-9]+)`", cell)}


@pytest.mark.parametrize("kind", RECORDS)
def test_every_field_is_explained(kind: str) -> None:
    schema = json_schema(kind)
    objects = [schema, *schema.get("$defs", {}).values()]
    fields = {name for obj in objects for name in obj.get("properties", {})}
    assert fields - explained() == set()


def test_every_event_is_explained_with_its_fields() -> None:
    assert {kind.value for kind in (*TraceKind, *EventKind)} - explained() == set()


def test_nothing_explained_is_gone() -> None:
    known = {kind.value for kind in (*TraceKind, *EventKind)}
    for kind in RECORDS:
        schema = json_schema(kind)
        for obj in [schema, *schema.get("$defs", {}).values()]:
            known |= set(obj.get("properties", {}))
    assert explained() - known == set()


def test_the_document_names_the_version_in_force() -> None:
    assert f"# The run format, version {FORMAT}\n" in DOCUMENT


def test_records_have_exactly_the_fields_of_their_schema() -> None:
    run = sample.run("aaa").model_copy(update={"broker_version": "4.1.0"})
    line = json.loads(encode_line(run))
    assert set(line) == set(json_schema("run")["properties"])
