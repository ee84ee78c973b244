"""Protects the report's JUnit XML: there beside the other formats, and never an empty one that looks passed."""

import shutil
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from harness.records.manifest import Manifest
from harness.records.run import KernelRecord, NoiseRecord, RunRecord
from harness.records.writer import Writer
from reports.junit import write_junit_of


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with one run of two that were planned."""
    folder = tmp_path / "r"
    manifest = Manifest(
        suite="r", faultlab="0.1.0", environment="sim", seed=7, arguments=(), folder="/", started_at="", machine="",
        run_ids=("a" * 12, "b" * 12),
    )  # fmt: skip
    run = RunRecord(
        run_id="a" * 12, attempt=1, scenario="dark", path="dark.scenario.yaml", client="sarama",
        client_version="1.27.2",
        driver="bundled", environment="sim", brokers=1, bootstrap=(1,), seed=7, repeat=1,
        started_at="2026-03-02T14:02:01+00:00", duration_s=2.1, verdict="pass",
        noise=NoiseRecord(loop_lag_p99_s=0.0, loop_lag_max_s=0.0, samples=0),
        kernel=KernelRecord(release="simulated", hz=1000),
    )  # fmt: skip
    with Writer.create(folder, manifest) as writer:
        writer.write(run, ())
    return folder


def test_folders_that_cannot_be_read_are_named_and_the_rest_is_written(results: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt"
    shutil.copytree(results, spoilt)
    (spoilt / "manifest.json").unlink()
    file, left_out = write_junit_of([str(results), str(spoilt), "s3a://bucket/r"], tmp_path / "out" / "junit.xml")
    assert file == tmp_path / "out" / "junit.xml"
    root = fromstring(file.read_bytes())
    assert (root.get("tests"), root.get("errors")) == ("2", "1"), "what was not run has not passed"
    assert left_out == (
        f"junit.xml leaves {spoilt} out: {spoilt} is no results folder: it has no manifest.json",
        "junit.xml leaves s3a://bucket/r out: s3a:/bucket/r is no results folder: it has no manifest.json",
    )


def test_without_any_folder_there_is_no_file(tmp_path: Path) -> None:
    file, left_out = write_junit_of([str(tmp_path)], tmp_path / "junit.xml")
    assert file is None
    assert len(left_out) == 1
    assert not (tmp_path / "junit.xml").exists()
