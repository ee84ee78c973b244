"""Protects what may be named as results: patterns, URIs, archives, damaged files; and what is said of each folder."""

import fcntl
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import reports
from bench.inputs.synthetic_suite import SyntheticBlackhole, write_suite
from reports.errors import NoSuchFolder, NothingToReport
from reports.ingest.filesystems import HadoopFiles, LocalFiles
from reports.ingest.folders import find_folders
from reports.ingest.records import Records
from reports.ingest.size import Size
from reports.pipeline import build_concurrently
from reports.remarks import remarks_on
from reports.tables.folders import folders as folders_table


def quiet(_line: str) -> None:
    pass


@pytest.fixture
def nightly(tmp_path: Path) -> Path:
    """Two suites, and a folder that is none."""
    for number, name in enumerate(("20261120", "20261121")):
        (tmp_path / name).mkdir()
        write_suite(tmp_path / name, [SyntheticBlackhole(brokers=1 + number)], repeats=2)
    (tmp_path / "20261122-notes").mkdir()
    return tmp_path


def test_a_pattern_stands_for_the_result_folders_among_its_matches(nightly: Path) -> None:
    found = find_folders([f"{nightly}/2026*"], LocalFiles())
    assert [folder.name for folder in found] == [f"{nightly}/20261120", f"{nightly}/20261121"]
    assert [len(folder.manifests[0].run_ids) for folder in found] == [2, 2]


def test_a_folder_that_is_named_twice_is_read_once(nightly: Path) -> None:
    found = find_folders([f"{nightly}/20261120", f"{nightly}/2026*"], LocalFiles())
    assert len(found) == 2


def test_what_is_no_folder_or_has_nothing(nightly: Path) -> None:
    with pytest.raises(NoSuchFolder, match="2025\\* is no folder"):
        find_folders([f"{nightly}/2025*"], LocalFiles())
    with pytest.raises(NothingToReport, match=r"notes has no runs\.jsonl"):
        find_folders([f"{nightly}/20261122-notes"], LocalFiles())
    with pytest.raises(NothingToReport) as caught:
        find_folders([str(nightly)], LocalFiles())
    assert caught.value.remedy == f"it holds result folders: name them with '{nightly}/*'"


@pytest.mark.spark
def test_a_uri_is_read_as_hadoop_reads_it(spark: SparkSession, nightly: Path) -> None:
    (nightly / "20261121").rename(nightly / "2026 %20 ü")
    files = HadoopFiles(spark)
    found = find_folders([f"file://{nightly}/2026*"], files)
    assert [folder.name for folder in found] == [f"file:{nightly}/2026 %20 ü", f"file:{nightly}/20261120"]
    assert [len(folder.manifests[0].run_ids) for folder in found] == [2, 2]
    with pytest.raises(NoSuchFolder):
        find_folders([f"file://{nightly}/nothing"], files)
    with pytest.raises(NothingToReport, match="this Spark has no file system for s3a://"):
        find_folders(["s3a://bucket/results"], files)


@pytest.mark.slow
@pytest.mark.spark
def test_a_report_of_uris_needs_a_place_and_is_that_of_their_folders(spark: SparkSession, nightly: Path) -> None:
    with pytest.raises(NothingToReport, match="needs a folder on this machine"):
        reports.build([f"file://{nightly}/20261120"], progress=quiet)
    by_uri = reports.build([f"file://{nightly}/2026*"], out=nightly / "uri", progress=quiet)
    by_name = reports.build([f"{nightly}/2026*"], out=nightly / "name", progress=quiet)
    assert by_uri.runs == by_name.runs == 4
    for name, file in by_name.tables.items():
        if name != "folders":
            assert file.read_bytes() == by_uri.tables[name].read_bytes(), name


@pytest.mark.spark
def test_an_archive_makes_the_same_tables(spark: SparkSession, nightly: Path) -> None:
    (nightly / "20261121" / "runs.jsonl").open("a").write("garbage\n")
    archive = nightly / "kept"
    first = reports.build([f"{nightly}/2026*"], out=nightly / "one", archive=str(archive), progress=quiet)
    assert first.quarantined == 1
    again = reports.build([str(archive)], out=nightly / "two", progress=quiet)
    assert (again.runs, again.quarantined) == (4, 0)
    for name in ("timeouts", "claims", "waits", "recovery", "groups", "agreement"):
        whose = {"suite"}  # all of an archive is one folder
        before, after = (pq.read_table(made.tables[name]) for made in (first, again))
        own = [column for column in before.column_names if column not in whose]
        assert before.select(own).to_pylist() == after.select(own).to_pylist(), name
    (nightly / "file").touch()
    there = {path: path.stat().st_mtime_ns for path in nightly.rglob("*")}
    for taken in (archive, nightly / "file", nightly / "20261121"):
        with pytest.raises(reports.ReportError, match=r"cannot write an archive to .*: there is a f"):
            reports.build([f"{nightly}/2026*"], out=nightly / "one", archive=str(taken), progress=quiet)
    assert {path: path.stat().st_mtime_ns for path in nightly.rglob("*")} == there


def damaged(part: Path) -> None:
    """Bytes in its middle: its end is whole, so that only reading it through finds it out."""
    data = bytearray(part.read_bytes())
    data[4:-2000] = b"\xff" * len(data[4:-2000])
    part.write_bytes(data)
    (part.parent / f".{part.name}.crc").unlink(missing_ok=True)


@pytest.mark.spark
@pytest.mark.parametrize("how", ["cut", *(pytest.param(how, marks=pytest.mark.slow) for how in ("damaged", "empty"))])
def test_a_part_file_that_cannot_be_read_is_named_and_the_rest_is_reported(
    read: Callable[..., Records], nightly: Path, how: str
) -> None:
    records = read(nightly / "20261120", nightly / "20261121")
    archive = nightly / "kept" / "runs.parquet"
    own = [column for column in records.runs.columns if column != "suite"]
    records.runs.select(own).repartitionByRange(2, "run_id").write.parquet(str(archive))
    first, second = sorted(archive.glob("part-*.parquet"))
    assert pq.read_metadata(second).num_rows > 0
    if how == "damaged":
        damaged(first)
    else:
        first.write_bytes(first.read_bytes()[:-500] if how == "cut" else b"")
        (archive / f".{first.name}.crc").unlink()
    left = read(nightly / "kept")
    [row] = left.quarantined.collect()
    assert (row.file, row.line) == (f"{nightly}/kept/runs.parquet/{first.name}", None)
    assert {"cut": "its end is missing", "damaged": "cannot be read: ", "empty": "too short"}[how] in row.reason
    assert left.runs.count() == pq.read_metadata(second).num_rows


@pytest.mark.spark
def test_folders_that_are_not_over_are_told(read: Callable[..., Records], nightly: Path) -> None:
    going, over = nightly / "20261120", nightly / "20261121"
    (going / "runs.jsonl").write_text((going / "runs.jsonl").read_text().splitlines(keepends=True)[0])
    (over / "manifest.json").write_text(json.dumps({**json.loads((over / "manifest.json").read_text()), "format": 2}))
    with (going / "runs.jsonl").open("a") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        records = read(going, over)
        rows = [row.asDict() for row in folders_table(records).orderBy("suite").collect()]
        assert [(row["planned"], row["runs"], row["is_written"]) for row in rows] == [(2, 1, True), (None, 2, False)]
        assert remarks_on(records.folders, rows) == (
            f"{over}/manifest.json was written by a newer faultlab: run format 2",
            f"{going} is being written to: 1 of 2 runs so far",
        )
    told = read(going, shutil.copytree(going, nightly / "copy"))
    rows = [row.asDict() for row in folders_table(told).collect()]
    assert remarks_on(told.folders, rows) == (
        f"{going} holds 1 of 2 runs: resume with faultlab run --resume {going}",
        f"{nightly}/copy holds 1 of 2 runs: resume with faultlab run --resume {nightly}/copy",
        f"1 run (1 of {going}) is in a later folder too: the same scenario, settings and seed make the same run, which"
        " counts once, as the last folder has it; another --seed makes another run",
    )


@pytest.mark.slow
@pytest.mark.spark
def test_tables_of_few_and_of_many_records_are_the_same(read: Callable[..., Records], nightly: Path) -> None:
    with (
        build_concurrently(read(f"{nightly}/2026*", size=Size.SMALL)) as (few, _),
        build_concurrently(read(f"{nightly}/2026*", size=Size.LARGE)) as (many, _),
    ):
        for name, table in few.items():
            assert table.result().table.equals(many[name].result().table), name


def test_a_folder_with_several_names_is_read_once(nightly: Path) -> None:
    """Its runs would count once, but what happened in them twice. It has the name that was given first."""
    (nightly / "latest").symlink_to("20261121")
    names = [f"{nightly}/20261120", f"{nightly}/20261120/", f"{nightly}/latest", f"{nightly}/notes/../20261121"]
    (nightly / "notes").mkdir()
    assert [folder.name for folder in find_folders(names, LocalFiles())] == [names[0], names[2]]


@pytest.mark.spark
def test_what_is_no_file_is_told_of_and_the_rest_is_reported(read: Callable[..., Records], nightly: Path) -> None:
    folder, odd = nightly / "20261120", {}
    for number, name in enumerate(("a link", "a folder", "a circle", "a pipe")):
        (nightly / name).mkdir()
        odd[name] = nightly / name / ("runs.jsonl" if number % 2 else "events.jsonl")
        if number % 2 == 0:
            write_suite(nightly / name, [SyntheticBlackhole(brokers=3 + number)], repeats=1)
            odd[name].unlink()
    odd["a link"].symlink_to("nowhere")
    odd["a folder"].mkdir()
    odd["a circle"].symlink_to(odd["a circle"].name)
    os.mkfifo(odd["a pipe"])
    records = read(folder, *(nightly / name for name in odd))
    assert {(row.file, row.reason) for row in records.quarantined.collect()} == {
        (str(odd["a link"]), "a link that leads nowhere"),
        (str(odd["a folder"]), "Is a directory"),
        (str(odd["a circle"]), "a link that leads nowhere"),
        (str(odd["a pipe"]), "no file: a pipe, a socket or a device"),
    }
    assert records.runs.count() == 4
