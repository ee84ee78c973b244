"""JSON Schemas of the records, generated from their types, for programs that read the files without this package."""

from typing import Any

from harness.records.agreement import AgreementRecord
from harness.records.event import EventRecord
from harness.records.group import GroupRecord
from harness.records.line import CHECKSUM_SCHEMA
from harness.records.manifest import Manifest
from harness.records.run import Record, RunRecord

RECORDS: dict[str, type[Record]] = {
    "manifest": Manifest,
    "run": RunRecord,
    "event": EventRecord,
    "group": GroupRecord,
    "agreement": AgreementRecord,
}
"""Every kind of record by the name of its schema, in the order in which a folder's files are explained."""

WITH_CHECKSUM = ("run", "group", "agreement")


def json_schema(kind: str) -> dict[str, Any]:
    """The schema of one line (or of manifest.json). Raises KeyError for a name that is not in RECORDS."""
    schema = RECORDS[kind].model_json_schema(mode="serialization")
    if kind in WITH_CHECKSUM:
        schema["properties"]["crc32"] = CHECKSUM_SCHEMA
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
