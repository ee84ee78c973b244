"""Protects the report's JUnit XML: made from its tables, it says what `run --ci` says of the same folder."""

from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import pyarrow.parquet as pq

from harness.records.junit import junit
from harness.records.reader import read
from reports.ingest.filesystems import LocalFiles
from reports.ingest.folders import find_folders
from reports.junit import write_junit_of
from reports.result import ReportResult


def cases(root: Element) -> list[tuple[object, ...]]:
    return sorted(
        (
            suite.get("name"), suite.get("tests"), suite.get("time"), suite.get("timestamp"), suite.get("file"),
            *((one.get("name"), one.get("value")) for one in suite.iter("property") if one.get("name") != "client"),
            *sorted((case.get("name"), *((child.tag, child.get("message"), child.text) for child in case))
                    for case in suite.iter("testcase")),
        )
        for suite in root
    )  # fmt: skip


def test_it_says_of_each_run_what_the_records_say(built: ReportResult, hard_folder: Path) -> None:
    made, expected = fromstring(built.junit.read_bytes()), fromstring(junit([read(hard_folder)]))
    assert made.attrib == expected.attrib
    assert cases(made) == cases(expected)


def test_what_was_planned_and_is_not_there_has_not_passed(
    built: ReportResult, hard_folder: Path, tmp_path: Path
) -> None:
    runs = pq.read_table(built.tables["runs"])
    folders = find_folders([str(hard_folder)], LocalFiles())
    file = write_junit_of(folders, runs.slice(0, 3), [], tmp_path / "junit.xml")
    root = fromstring(file.read_bytes())
    planned = set(folders[0].manifests[0].run_ids) - set(runs["run_id"].slice(0, 3).to_pylist())
    assert {case.get("name") for case in root.iter("testcase") if case.get("classname") == "not run"} == {
        f"run {run_id}" for run_id in planned
    }
    assert int(root.get("errors", "")) >= len(planned) > 0
