"""Protects the records' way into tables: nothing unreadable passes, nothing is dropped in silence, last tries count."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from bench.inputs.synthetic_suite import SyntheticBlackhole, write_lines, write_suite
from reports.ingest.records import Records
from reports.ingest.size import Size
from reports.jvm.prepare import REHEARSAL

pytestmark = pytest.mark.spark


def without(name: str) -> Callable[[dict[str, object]], object]:
    return lambda record: record.pop(name)


def setting(name: str, value: object) -> Callable[[dict[str, object]], object]:
    return lambda record: record.__setitem__(name, value)


def inside(name: str, key: str, value: object) -> Callable[[dict[str, object]], object]:
    def change(record: dict[str, object]) -> None:
        entries = record[name]
        assert isinstance(entries, list)
        entries[0][key] = value

    return change


BROKEN = {
    "no run_id": (without("run_id"), "`run_id` is missing or has the wrong type"),
    "a text for a number": (setting("attempt", "first"), "`attempt` is missing or has the wrong type"),
    "a number with a fraction for a count": (setting("seed", 1.5), "`seed` is missing or has the wrong type"),
    "a list for a record": (setting("noise", []), "`noise` is missing or has the wrong type"),
    "an optional field of the wrong type": (setting("ready_s", "soon"), "a field has the wrong type"),
    "an unknown verdict": (setting("verdict", "splendid"), "`verdict` is splendid, not one of pass"),
    "a newer format": (setting("format", 2), "format 2 is newer than 1"),
    "a measure without a name": (inside("measures", "name", None), "`measures`: `name` is missing"),
    "an unknown outcome inside": (inside("expectations", "outcome", "maybe"), "`expectations`: `outcome` is maybe"),
    "a null entry": (setting("faults", [None]), "`faults`: an entry is null"),
}
BLOCKS = {"spark.sql.files.maxPartitionBytes": "4096", "spark.sql.files.openCostInBytes": "0"}
LINES = {
    "cut last line": ('{"run_id": "0000', "cut short"),
    "garbage": ("\x00\x7f not json", "no JSON object"),
    "a list": ("[1, 2]", "no JSON object"),
    "a bare word": ("null", "no JSON object"),
    "broken inside": ('{"run_id": 1,, }', "broken JSON"),
}


def test_what_does_not_fit_is_quarantined_with_file_and_reason(read: Callable[..., Records], tmp_path: Path) -> None:
    good, _ = SyntheticBlackhole().run(1)
    lines, expected = [good.model_dump_json()], []
    for change, reason in BROKEN.values():
        record = json.loads(good.model_dump_json())
        change(record)
        lines.append(json.dumps(record))
        expected.append(reason)
    lines += [line for line, _ in LINES.values()]
    expected += [reason for _, reason in LINES.values()]
    (tmp_path / "runs.jsonl").write_text("\n".join([*lines[:3], "", "  ", *lines[3:]]), encoding="utf-8")
    (tmp_path / "events.jsonl").write_text('{"run_id": "x", "attempt": 1, "at_ns": "soon"}\n', encoding="utf-8")
    records = read(tmp_path)
    rows = sorted(records.quarantined.collect(), key=lambda row: (row.file, row.line))
    event, *found = rows
    assert [run.run_id for run in records.runs.collect()] == [good.run_id]
    assert (event.file, event.line) == (f"{tmp_path}/events.jsonl", 1)
    assert event.reason == "`at_ns` is missing or has the wrong type"
    assert {row.file for row in found} == {f"{tmp_path}/runs.jsonl"}
    assert [row.line for row in found] == [2, 3, *range(6, len(expected) + 4)], "blank lines are counted"
    for row, wanted in zip(found, expected, strict=True):
        assert row.reason.startswith(wanted)


@pytest.mark.slow
def test_fields_that_no_table_asks_for_are_judged_too(read: Callable[..., Records], tmp_path: Path) -> None:
    """However much there is to read: Spark leaves out what nobody asks for, and would not see what is wrong with it."""
    _, [good, *_] = SyntheticBlackhole().run(1)
    write_suite(tmp_path, [SyntheticBlackhole()], repeats=1)
    with (tmp_path / "events.jsonl").open("a", encoding="utf-8") as events:
        events.write(json.dumps({**json.loads(good.model_dump_json()), "bytes": "many"}) + "\n")
    for size in Size:
        [row] = read(tmp_path, size=size).quarantined.collect()
        assert (row.file, row.reason) == (f"{tmp_path}/events.jsonl", "a field has the wrong type")


def test_what_began_and_ended_is_told_as_it_was(read: Callable[..., Records], tmp_path: Path) -> None:
    """Events are kept as pairs; a time line draws them one by one."""
    write_suite(tmp_path, [SyntheticBlackhole()], repeats=2)
    told = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    names = ["run_id", "attempt", "source", "source_seq", "at_ns", "kind", "waiting_on", "purpose", "connection"]
    names += ["broker", "address", "outcome", "error"]
    expected = [[event.get(name) for name in names] for event in told if event["kind"].startswith(("wait_", "dial_"))]
    assert len(expected) > 40
    for size in Size:
        span_events = read(tmp_path, size=size).span_events.where("kind rlike '^(wait|dial)_'")
        assert sorted(map(str, expected)) == sorted(str([row[name] for name in names]) for row in span_events.collect())


@pytest.mark.slow
def test_lines_are_numbered_in_files_that_are_read_in_blocks(
    spark: SparkSession, read: Callable[..., Records], tmp_path: Path
) -> None:
    """Files of different lengths, cut into blocks of 4 KiB that Spark packs as it likes."""
    rng, expected = random.Random(3), set()
    for name in ("long", "short", "middle"):
        (tmp_path / name).mkdir()
        runs = write_suite(tmp_path / name, [SyntheticBlackhole(seed=len(name))], repeats=2 + 3 * len(name))
        lines = [run.model_dump_json() for run in runs]
        for _ in range(4):
            lines.insert(rng.randint(0, len(lines)), f"garbage {rng.random()}")
        file = tmp_path / name / "runs.jsonl"
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        expected |= {(str(file), n, line) for n, line in enumerate(lines, start=1) if line.startswith("garbage")}
    before = {key: spark.conf.get(key) for key in BLOCKS}
    for key, value in BLOCKS.items():
        spark.conf.set(key, value)
    try:
        for size in Size:
            records = read(tmp_path / "long", tmp_path / "short", tmp_path / "middle", size=size)
            found = {(row.file, row.line, row.excerpt) for row in records.quarantined.collect()}
            assert found == expected
    finally:
        for key, old in before.items():
            spark.conf.set(key, old)


def test_of_several_tries_the_last_counts_and_so_do_its_events(read: Callable[..., Records], tmp_path: Path) -> None:
    run, events = SyntheticBlackhole().run(1)
    tries = [run.model_copy(update={"attempt": number, "repeat": number}) for number in (1, 3, 2)]
    write_lines(tmp_path / "runs.jsonl", tries)
    told = [event.model_copy(update={"attempt": number}) for number in (1, 3, 4) for event in events]
    write_lines(tmp_path / "events.jsonl", told)
    records = read(tmp_path)
    assert [(row.attempt, row.repeat) for row in records.runs.collect()] == [(3, 3)]
    assert {row.attempt for row in records.events.select("attempt").collect()} == {3}
    assert records.events.count() == len(events)


def test_a_line_of_an_older_faultlab_gets_the_defaults(read: Callable[..., Records], tmp_path: Path) -> None:
    record = json.loads(SyntheticBlackhole().run(1)[0].model_dump_json())
    for name in ("noisy", "tags", "about", "error", "ready_s"):
        del record[name]
    (tmp_path / "runs.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    [row] = read(tmp_path).runs.collect()
    assert (row.noisy, row.tags, row.about, row.error, row.ready_s) == (False, [], "", None, None)
    assert [operation.alias for operation in row.operations] == ["connect", "probe"]


def test_a_run_in_two_folders_counts_once(read: Callable[..., Records], tmp_path: Path) -> None:
    """As in the folder that was named last, with the events of that one; a higher attempt elsewhere beats it."""
    first, last = tmp_path / "a [1] {x,y} *? 12:30", tmp_path / "b %20 ü"
    for folder in (first, last):
        folder.mkdir()
        write_suite(folder, [SyntheticBlackhole()], repeats=3)
    again, events = SyntheticBlackhole().run(2)
    with (first / "runs.jsonl").open("a") as file:
        file.write(again.model_copy(update={"attempt": 2}).model_dump_json() + "\n")
    with (first / "events.jsonl").open("a") as file:
        file.writelines(event.model_copy(update={"attempt": 2}).model_dump_json() + "\n" for event in events)
    for size in Size:
        records = read(first, last, size=size)
        assert sorted((row.repeat, row.suite, row.attempt) for row in records.runs.collect()) == [
            (1, 1, 1), (2, 0, 2), (3, 1, 1),
        ]  # fmt: skip
        assert records.events.where(f"run_id = '{again.run_id}'").count() == len(events)
        told = records.events.select("suite", "run_id", "attempt").distinct().collect()
        assert sorted((row.suite, row.attempt) for row in told) == [(0, 2), (1, 1), (1, 1)]
        assert sorted((row.suite, row.attempt) for row in records.tries.collect()) == [(0, 1), (0, 2), (1, 1), (1, 1)]
        assert records.quarantined.count() == 0


def test_field_names_that_sql_knows_keep_their_values(read: Callable[..., Records], tmp_path: Path) -> None:
    write_suite(tmp_path, [SyntheticBlackhole()], repeats=1)
    events = read(tmp_path).events
    assert [row["bytes"] for row in events.where("kind = 'request_sent'").collect()] == [131]


def test_java_rehearses_with_records_of_today(read: Callable[..., Records]) -> None:
    records = read(REHEARSAL)
    assert [row.file.rpartition("/")[2] for row in records.quarantined.collect()] == ["runs.jsonl"]
    counts = [frame.count() for frame in (records.runs, records.groups, records.agreement)]
    assert counts == [2, 2, 2]
    assert records.spans.count() > 10
