"""Protects reports from what disks, crashes and editors make of lines: each such line is told of, whatever its size."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.inputs.synthetic_suite import SyntheticBlackhole, line_of, write_lines, write_suite
from reports.ingest.records import Records
from reports.ingest.size import Size

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


@pytest.mark.parametrize("name", ["a list of records", "two records, the line end between them lost"])
def test_one_such_line_among_many_is_enough(name: str, read: Callable[..., Records], tmp_path: Path) -> None:
    """Spark reads both without a word."""
    line, reason = DAMAGED[name]
    (tmp_path / "runs.jsonl").write_bytes(GOOD + b"\n" + line + b"\n")
    records = read(tmp_path, size=Size.LARGE)
    assert [(row.line, row.reason) for row in records.quarantined.collect()] == [(2, reason)]
    assert records.runs.count() == 1


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
