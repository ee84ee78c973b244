"""A report from beginning to end: records in, tables and a page out."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from reports.errors import NothingToReport
from reports.ingest.records import RUNS, read_folders
from reports.jvm.archive import archive_for
from reports.jvm.runtime import find_java
from reports.result import ReportResult
from reports.session import spark_session
from reports.tables import every_table

Progress = Callable[[str], None]
Rows = list[dict[str, Any]]


def write_report(folders: Sequence[Path], *, out: Path | None, progress: Progress) -> ReportResult:
    """See `reports.build`."""
    began_s = perf_counter()
    look_before(folders)
    target = out or folders[0]
    java = find_java()
    archive = archive_for(java)
    without = "" if archive.exists else ", without a class archive (`python -m reports.jvm` makes one: faster reports)"
    progress(f"starting Spark on {java}{without}")
    work = target / "report" / ".work"
    try:
        with spark_session(archive, work) as spark:
            return make_report(spark, folders, out=target, progress=progress, began_s=began_s)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def look_before(folders: Sequence[Path]) -> None:
    """Say what is missing before seconds are spent on starting Java. Raises NothingToReport."""
    remedy = "name a folder that `faultlab run` wrote: it has a runs.jsonl"
    if not folders:
        raise NothingToReport("no results folder was named", remedy)
    for folder in folders:
        if not folder.is_dir():
            raise NothingToReport(f"{folder} is no folder", remedy)
        if not (folder / RUNS).is_file():
            raise NothingToReport(f"{folder} has no {RUNS}", remedy)


def make_report(
    spark: SparkSession, folders: Sequence[Path], *, out: Path, progress: Progress, began_s: float | None = None
) -> ReportResult:
    """Read the folders, write tables and page to `out`. Raises NothingToReport where no run can be read."""
    began_s = perf_counter() if began_s is None else began_s
    progress("reading the records")
    records = read_folders(spark, folders)
    tables = {}
    for table in every_table():
        progress(f"table {table.name}")
        tables[table.name] = table.make(records).toArrow()
    folder = out / "report"
    folder.mkdir(parents=True, exist_ok=True)
    written = {name: write_parquet(table, folder / f"{name}.parquet") for name, table in tables.items()}
    quarantined = records.quarantined.toArrow().to_pylist()
    return ReportResult(
        page=out / "report.html",
        markdown=folder / "timeouts.md",
        tables=written,
        quarantined=len(quarantined),
        runs=tables["runs"].num_rows,
        seconds=perf_counter() - began_s,
    )


def write_parquet(table: pa.Table, file: Path) -> Path:
    """One file a table, whole or not at all."""
    unfinished = file.with_name(f".{file.name}.new")
    pq.write_table(table, unfinished)
    return unfinished.replace(file)
