"""Protects reports from what disks, crashes and editors make of lines: each such line is told of, whatever its size."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from harness.records.run import RunRecord
from reports.ingest.folders import Part
from reports.ingest.lines import REASON, read_records
from reports.ingest.one_object_per_line import CHUNK_BYTES, one_object_per_line, one_object_per_line_in_spark
from reports.ingest.records import Records
from reports.ingest.size import Size
from reports.jvm.synthetic_suite import SyntheticBlackhole, line_of, write_lines, write_suite

pytestmark = pytest.mark.spark

GOOD = line_of(SyntheticBlackhole().run(1)[0]).rstrip()
ANOTHER = line_of(SyntheticBlackhole().run(2)[0]).rstrip()
FOLLOWS = "no record alone: something follows it on its line"
NO_OBJECT = "no JSON object"
CHANGED = "damaged: the line does not fit its crc32"
DAMAGED = {
    "two records, the line end between them lost": (ANOTHER + ANOTHER, FOLLOWS),
    "zeroes in place of a line end": (ANOTHER + bytes(40) + ANOTHER, FOLLOWS),
    "zeroes behind it": (ANOTHER + bytes(40), FOLLOWS),
    "a brace too many": (ANOTHER + b"}", FOLLOWS),
    "the comma of a list": (ANOTHER + b",", FOLLOWS),
    "what closes a list": (ANOTHER + b"]}", FOLLOWS),
    "a list of records": (b"[" + ANOTHER + b"," + ANOTHER + b"]", NO_OBJECT),
    "an empty list": (b"[]", NO_OBJECT),
    "a byte order mark": (b"\xef\xbb\xbf" + ANOTHER, NO_OBJECT),
    "another encoding": (ANOTHER.replace(b'"about":"', b'"about":"\xe9'), "no text: its bytes are no UTF-8"),
    "bytes": (b"\x1f\x8b\x08\xff\xfe\xb9", "no text: its bytes are no UTF-8"),
    "a zero in a text": (ANOTHER.replace(b'"about":"', b'"about":"\0'), "broken JSON: it has control characters"),
    "single quotes": (b"{'run_id': 'x'}", "`run_id` is missing or has the wrong type"),
    "a flipped bit in a number": (ANOTHER.replace(b'"repeat":2', b'"repeat":3'), CHANGED),
    "a flipped bit in a text": (ANOTHER.replace(b'"about":"', b'"about":"\xc3\xa9'), CHANGED),
    "a flipped bit in the checksum": (ANOTHER[:-3] + bytes([ANOTHER[-3] ^ 1]) + ANOTHER[-2:], CHANGED),
    "a number that is none": (ANOTHER.replace(b'"seed":', b'"seed":NaN,"old_seed":'), "broken JSON"),
}
SEEN_LINE_BY_LINE_ALONE = {"a brace too many", "what closes a list"}
"""No crash leaves such; records above 48 MiB are not looked at as closely."""


def test_each_damaged_line_is_told_of_with_its_reason(read: Callable[..., Records], tmp_path: Path) -> None:
    lines = [line for damaged, _ in DAMAGED.values() for line in (damaged, GOOD)]
    (tmp_path / "runs.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    for size in Size:
        records = read(tmp_path, size=size)
        found = {row["line"]: row["reason"] for row in records.quarantined.toArrow().to_pylist()}
        assert list(zip(DAMAGED, [found.pop(1 + 2 * place) for place in range(len(DAMAGED))], strict=True)) == [
            (name, reason) for name, (_, reason) in DAMAGED.items()
        ]
        assert found == {}
        assert [run["run_id"] for run in records.runs.toArrow().to_pylist()] == [json.loads(GOOD)["run_id"]]


def test_each_of_them_is_seen_where_lines_are_read_in_one_go(spark: SparkSession, tmp_path: Path) -> None:
    """By its bytes, or by Spark: one is enough to look at all lines one by one."""
    parts = []
    for place, (name, (line, _)) in enumerate(DAMAGED.items()):
        file = tmp_path / f"{place}.jsonl"
        file.write_bytes(GOOD + b"\n" + line + b"\n")
        parts.append((place, Part(uri=f"file:{file}", display_name=name, size_bytes=0, is_parquet=False)))
    bad = read_records(spark, parts, RunRecord, bulk=True).where(f"{REASON} is not null")
    seen = {row.suite for row in bad.select("suite").distinct().collect()}
    seen |= {place for place, part in parts if not one_object_per_line(Path(part.uri.removeprefix("file:")))}
    assert [part.display_name for place, part in parts if place not in seen] == sorted(SEEN_LINE_BY_LINE_ALONE)


@pytest.mark.parametrize("name", ["a whole record", *DAMAGED])
def test_spark_sees_elsewhere_what_is_seen_here(name: str, spark: SparkSession, tmp_path: Path) -> None:
    line = DAMAGED[name][0] if name in DAMAGED else ANOTHER
    (tmp_path / "runs.jsonl").write_bytes(GOOD + b"\n\n" + line + b"\n")
    part = Part(uri=f"file:{tmp_path}/runs.jsonl", display_name=name, size_bytes=0, is_parquet=False)
    (tmp_path / "one.jsonl").write_bytes(GOOD + b"\n" + line + b"\n")
    assert one_object_per_line_in_spark(spark, [(0, part)]) is one_object_per_line(tmp_path / "one.jsonl")


@pytest.mark.parametrize("name", ["a list of records", "two records, the line end between them lost"])
def test_one_such_line_among_many_is_enough(name: str, read: Callable[..., Records], tmp_path: Path) -> None:
    """Spark reads both without a word."""
    line, reason = DAMAGED[name]
    (tmp_path / "runs.jsonl").write_bytes(GOOD + b"\n" + line + b"\n")
    records = read(tmp_path, size=Size.LARGE)
    assert [(row.line, row.reason) for row in records.quarantined.collect()] == [(2, reason)]
    assert records.runs.count() == 1


def test_whole_lines_are_alone_wherever_a_look_ends(tmp_path: Path) -> None:
    """Lines of all lengths around what is looked at in one go, a last line with and without its end."""
    file = tmp_path / "lines.jsonl"
    for length in (CHUNK_BYTES - 3, CHUNK_BYTES - 2, CHUNK_BYTES - 1, CHUNK_BYTES, 7, 2 * CHUNK_BYTES):
        line = b'{"a":{"b":"' + b"x" * (length - 15) + b'"}}'
        for text in (line, line + b"\n", (line + b"\n") * 3, b"{}\n" + line + b"\n{}"):
            file.write_bytes(text)
            assert one_object_per_line(file), (length, text[-20:])
            file.write_bytes(text + b"\n[]\n{}")
            assert not one_object_per_line(file)
    file.write_bytes(b"")
    assert one_object_per_line(file)


def test_events_that_stand_there_twice_happened_once(read: Callable[..., Records], tmp_path: Path) -> None:
    """As when somebody joined two copies of a file: attempts and waits would be twice as many."""
    write_suite(tmp_path, [SyntheticBlackhole()], repeats=2)
    once = [sorted(map(str, read(tmp_path, size=size).spans.collect())) for size in Size]
    told = (tmp_path / "events.jsonl").read_bytes()
    (tmp_path / "events.jsonl").write_bytes(told + told)
    assert [sorted(map(str, read(tmp_path, size=size).spans.collect())) for size in Size] == once
    assert len(once[0]) > 30


def test_a_null_among_numbers_is_no_number(read: Callable[..., Records], tmp_path: Path) -> None:
    run, _ = SyntheticBlackhole().run(1)
    write_lines(tmp_path / "runs.jsonl", [run])
    with (tmp_path / "runs.jsonl").open("a", encoding="utf-8") as runs:
        runs.write(json.dumps({**json.loads(run.model_dump_json()), "bootstrap": [1, None]}) + "\n")
    [row] = read(tmp_path).quarantined.collect()
    assert (row.line, row.reason) == (2, "`bootstrap`: an entry is null")
