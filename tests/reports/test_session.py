"""Protects the Spark that a report gets: fit for what is to be read, and plain words where its memory is too little."""

import os
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reports.ingest.filesystems import LocalFiles
from reports.ingest.folders import find_folders
from reports.ingest.size import Size
from reports.jvm.class_archive import ClassArchive
from reports.jvm.process import JavaProcess
from reports.jvm.runtime import Java
from reports.session import KEPT_ON_CLUSTER, failure, size_for, spark_environment

TOO_LARGE = (
    "An error occurred while calling o123.collectAsArrowToPython.\n: org.apache.spark.SparkException: Job aborted due"
    " to stage failure: Total size of serialized results of 7 tasks (2.3 GiB) is bigger than spark.driver.maxResultSize"
    " (2048.0 MiB)"
)
SETTINGS = {"spark.driver.memory": "4096m", "spark.driver.maxResultSize": "2048m"}


@pytest.fixture
def archive(tmp_path: Path) -> ClassArchive:
    return ClassArchive(
        java=Java(home=tmp_path, version="17.0.2", has_vector=True, origin="PATH"), folder=tmp_path, code_hash="c"
    )


@pytest.mark.parametrize(("rows", "size"), [(1_000, Size.SMALL), (4_000_000, Size.LARGE)])
def test_parquet_counts_as_what_it_is_once_it_is_read(rows: int, size: Size, tmp_path: Path) -> None:
    """Records that are all alike take next to nothing on disk."""
    file = tmp_path / "runs.parquet"
    pq.write_table(pa.table({"run_id": pa.array(["0" * 12]).take(pa.array([0] * rows))}), file)
    assert file.stat().st_size < 2**20
    assert size_for(find_folders([str(tmp_path)], LocalFiles()), [str(tmp_path)], on=None) is size


def test_a_table_that_is_too_large_is_told_with_its_size_and_the_remedy(archive: ClassArchive) -> None:
    told = failure(RuntimeError(TOO_LARGE), "", archive, SETTINGS, None)
    assert "2.3 GiB" in told.text
    assert "2048m" in told.text
    assert "spark.driver.maxResultSize" in told.remedy


def test_memory_that_is_too_little_is_told_with_what_there_is_to_read(archive: ClassArchive) -> None:
    log = "Terminating due to java.lang.OutOfMemoryError: Java heap space"
    told = failure(ConnectionError("gone"), log, archive, SETTINGS, 3 * 2**30)
    assert "4096m" in told.text
    assert "3,072 MiB" in told.text
    assert "spark.driver.memory" in told.remedy


def test_a_cluster_is_reached_as_the_user_configured_it(
    archive: ClassArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*KEPT_ON_CLUSTER, "SPARK_HOME"):
        monkeypatch.setenv(name, "/of/the/user")
    before = dict(os.environ)
    with spark_environment(archive, tmp_path, "127.0.0.1"):
        assert "HADOOP_CONF_DIR" not in os.environ
        assert os.environ["SPARK_CONF_DIR"] != "/of/the/user"
    with spark_environment(archive, tmp_path, "127.0.0.1", KEPT_ON_CLUSTER):
        assert [os.environ[name] for name in KEPT_ON_CLUSTER] == ["/of/the/user"] * len(KEPT_ON_CLUSTER)
        assert os.environ["SPARK_HOME"] != "/of/the/user"
    assert dict(os.environ) == before


def test_what_a_process_has_mapped_is_known(tmp_path: Path) -> None:
    """A class archive that Java accepted is mapped; one that it rejected is not."""
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    java = JavaProcess(process, 0, "")
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.read(1)  # Popen returns as soon as the kernel has taken exec: before it has mapped the program
        assert java.has_mapped(Path(f"/proc/{process.pid}/exe"))
        assert not java.has_mapped(tmp_path / "spark.jsa")
    finally:
        java.kill()
