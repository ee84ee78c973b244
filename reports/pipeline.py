"""Making a report in a Spark that is there: records in, tables and a page out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import SparkSession

from harness.records.atomic import write_atomically
from harness.records.folder import RUNS
from reports.charts.timeline import Timeline, timeline_of
from reports.csv_export import write_csv
from reports.errors import NothingToReport
from reports.ingest.filesystems import LocalFiles
from reports.ingest.folders import Folder, find_folders
from reports.ingest.records import Records, read_folders
from reports.ingest.size import Size
from reports.junit import write_junit_of
from reports.pages.cases import cases_of
from reports.pages.markdown import write_markdown
from reports.pages.page import write_page
from reports.pages.timeline_runs import ChosenRun, choose_runs
from reports.pages.view import build_page
from reports.parquet_archive import write_archive
from reports.remarks import remarks_on
from reports.result import ReportResult
from reports.rows import Rows
from reports.tables import all_tables
from reports.tables.base import Table

Progress = Callable[[str], None]
Timelines = list[tuple[ChosenRun, Timeline]]
MAX_WORKERS = 4
BUILT_FIRST = ("runs", "recovery", "timeouts")
"""The time lines wait for the runs; the other two take longest to plan."""

__all__ = ["BuiltTable", "build_concurrently", "build_report", "make_report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltTable:
    """A table of the report, as it is written and as the page reads it."""

    table: pa.Table
    rows: Rows


def make_report(spark: SparkSession, folders: Sequence[Path], *, out: Path, progress: Progress) -> ReportResult:
    """As `write_report`, of few records in folders of this machine, in a Spark that is there."""
    return build_report(
        spark, find_folders([str(folder) for folder in folders], LocalFiles()), Size.SMALL, out=out, progress=progress
    )


def build_report(
    spark: SparkSession,
    folders: Sequence[Folder],
    size: Size,
    *,
    out: Path,
    progress: Progress,
    archive: str | None = None,
    began_s: float | None = None,
) -> ReportResult:
    """Read the folders, write tables and page to `out`. Raises NothingToReport where no run can be read."""
    began_s = perf_counter() if began_s is None else began_s
    many = f" of {len(folders)} folders" if len(folders) > 1 else ""
    progress(f"reading the records{many}")
    records = read_folders(spark, folders, size)
    progress(f"tables: {', '.join(table.name for table in all_tables())}; time lines")
    folder = out / "report"
    with build_concurrently(records) as (made, timelines):
        if not made["runs"].result().rows:
            raise nothing_readable_error(folders, made["quarantined"].result().rows)
        folder.mkdir(parents=True, exist_ok=True)
        runs, groups = (made[name].result() for name in ("runs", "groups"))
        junit = write_junit_of(folders, runs.table, groups.rows, folder / "junit.xml")
        files = write_tables(made, folder)
        drawn = timelines.result()
    rows = {table.name: made[table.name].result().rows for table in all_tables()}
    if archive is not None:
        progress(f"archive: {archive}")
        write_archive(records, archive)
    progress("writing")
    manifests = [manifest for one in folders for manifest in one.manifests]
    page = build_page(rows, manifests, rows["quarantined"], drawn)
    return ReportResult(
        junit=junit,
        page=write_page(page, out / "report.html"),
        markdown=write_markdown(page, folder / "timeouts.md"),
        tables={name: parquet for name, (parquet, _) in files.items()},
        csv={name: comma for name, (_, comma) in files.items()},
        quarantined=len(rows["quarantined"]),
        runs=len(rows["runs"]),
        remarks=remarks_on(folders, rows["folders"]),
        seconds=perf_counter() - began_s,
    )


@contextmanager
def build_concurrently(records: Records) -> Iterator[tuple[dict[str, Future[BuiltTable]], Future[Timelines]]]:
    """The tables, each in its order, and the chosen runs with their time lines, as they come.

    Planning a small query is most of its work, and one thread plans one at a time.
    """
    pool = ThreadPoolExecutor(max_workers=MAX_WORKERS)
    try:
        ordered = sorted(all_tables(), key=lambda table: table.name not in BUILT_FIRST)
        made = {table.name: pool.submit(build_table, table, records) for table in ordered}
        yield made, pool.submit(lambda: timelines_of_chosen_runs(records, made["runs"].result().rows))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # an interruption must not wait for what is under way


def write_tables(made: Mapping[str, Future[BuiltTable]], folder: Path) -> dict[str, tuple[Path, Path]]:
    """Each table as Parquet and CSV, as soon as it is there: Spark works on the others meanwhile."""
    names = {one: name for name, one in made.items()}
    files = {}
    for one in as_completed(names):
        name, table = names[one], one.result().table
        parquet = write_parquet(table, folder / f"{name}.parquet")
        files[name] = parquet, write_csv(table, folder / f"{name}.csv")
    return {table.name: files[table.name] for table in all_tables()}


def build_table(table: Table, records: Records) -> BuiltTable:
    rows = table.make(records).toArrow().sort_by([(name, "ascending") for name in table.order])
    return BuiltTable(table=rows, rows=Rows(rows))


def nothing_readable_error(folders: Sequence[Folder], quarantined: Rows) -> NothingToReport:
    where = ", ".join(f"{folder.name}/{RUNS}" for folder in folders[:3]) + (", ..." if len(folders) > 3 else "")
    if not quarantined:
        return NothingToReport(f"{where}: no run has ended yet", "run the suite, or resume it: faultlab run --resume")
    return NothingToReport(
        f"{where}: no line can be read; the first one: {quarantined[0]['reason']}",
        "run the suite again, or use the faultlab that wrote it",
    )


def timelines_of_chosen_runs(records: Records, runs: Rows) -> Timelines:
    """One query for the events of all the chosen runs."""
    choices = choose_runs(list(cases_of(runs).values()))
    if not choices:
        return []
    wanted = F.col("run_id").isin([choice.run["run_id"] for choice in choices])
    events = Rows(records.span_events.where(wanted & F.col("kind").rlike("^(wait|dial|wire)_")).toArrow())
    return [(choice, timeline_of(choice.run, choice.judged, events_of_run(events, choice.run))) for choice in choices]


def events_of_run(events: Rows, run: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return [event for event in events if event["run_id"] == run["run_id"]]


def write_parquet(table: pa.Table, file: Path) -> Path:
    """One file a table, whole or not at all."""
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    write_atomically(file, buffer.getvalue())
    return file
