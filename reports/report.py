"""A report from beginning to end: records in, tables and a page out."""

import contextlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark.sql.functions as F  # noqa: N812
from pydantic import ValidationError
from pyspark.sql import SparkSession

from harness.records.folder import EVENTS, MANIFEST, RUNS
from harness.records.manifest import Manifest
from reports.charts.timeline import Timeline, timeline_of
from reports.errors import NothingToReport
from reports.ingest.records import Records, read_folders
from reports.jvm.archive import archive_for
from reports.jvm.runtime import find_java
from reports.pages.cases import cases_of
from reports.pages.choice import Choice, choose
from reports.pages.markdown import write_markdown
from reports.pages.page import write_page
from reports.pages.view import page_of
from reports.result import ReportResult
from reports.session import spark_session
from reports.tables import every_table

Progress = Callable[[str], None]
Rows = list[dict[str, Any]]
SIDE_BY_SIDE = 3


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
        with spark_session(archive, work, size_bytes=size_of(folders)) as spark:
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
        for name in (RUNS, EVENTS):
            try:
                (folder / name).open("rb").close()
            except FileNotFoundError:
                if name == RUNS:
                    raise NothingToReport(f"{folder} has no {RUNS}", remedy) from None
            except OSError as error:
                raise NothingToReport(
                    f"cannot read {folder / name}: {error.strerror}", "check the file's permissions"
                ) from error


def size_of(folders: Sequence[Path]) -> int:
    files = [folder / name for folder in folders for name in (RUNS, EVENTS)]
    return sum(file.stat().st_size for file in files if file.is_file())


def make_report(
    spark: SparkSession, folders: Sequence[Path], *, out: Path, progress: Progress, began_s: float | None = None
) -> ReportResult:
    """Read the folders, write tables and page to `out`. Raises NothingToReport where no run can be read."""
    began_s = perf_counter() if began_s is None else began_s
    progress("reading the records")
    records = read_folders(spark, folders)
    progress(f"tables: {', '.join(table.name for table in every_table())}")
    tables = collected(records)
    rows = {name: rows_of(table) for name, table in tables.items()}
    if not rows["runs"]:
        raise nothing_readable(folders, rows["quarantined"])
    progress("time lines")
    timelines = timelines_of(records, rows["runs"])
    progress("writing")
    page = page_of(rows, manifests_of(folders), rows["quarantined"], timelines)
    folder = out / "report"
    folder.mkdir(parents=True, exist_ok=True)
    return ReportResult(
        page=write_page(page, out / "report.html"),
        markdown=write_markdown(page, folder / "timeouts.md"),
        tables={name: write_parquet(table, folder / f"{name}.parquet") for name, table in tables.items()},
        quarantined=len(rows["quarantined"]),
        runs=tables["runs"].num_rows,
        seconds=perf_counter() - began_s,
    )


def collected(records: Records) -> dict[str, pa.Table]:
    """The tables, each in its order. Side by side, because planning a small query is most of its work."""
    pool = ThreadPoolExecutor(max_workers=SIDE_BY_SIDE)
    try:
        tables = {table: pool.submit(table.make(records).toArrow) for table in every_table()}
        return {
            table.name: made.result().sort_by([(name, "ascending") for name in table.order])
            for table, made in tables.items()
        }
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # an interruption must not wait for what is under way


def rows_of(table: pa.Table) -> Rows:
    rows: Rows = table.to_pylist()
    return rows


def nothing_readable(folders: Sequence[Path], quarantined: Rows) -> NothingToReport:
    where = ", ".join(str(folder / RUNS) for folder in folders)
    if not quarantined:
        return NothingToReport(
            f"{where}: no run has ended yet", "run the suite, or go on with it: faultlab run --resume"
        )
    return NothingToReport(
        f"{where}: no line can be read; the first one: {quarantined[0]['reason']}",
        "run the suite again, or use the faultlab that wrote it",
    )


def timelines_of(records: Records, runs: Rows) -> list[tuple[Choice, Timeline]]:
    """The chosen runs with their time lines: one query for the events of all of them."""
    choices = choose(list(cases_of(runs).values()))
    if not choices:
        return []
    wanted = F.col("run_id").isin([choice.run["run_id"] for choice in choices])
    events = rows_of(records.events.where(wanted & F.col("kind").rlike("^(wait|dial)_")).toArrow())
    return [(choice, timeline_of(choice.run, choice.judged, own_events(events, choice.run))) for choice in choices]


def own_events(events: Rows, run: Mapping[str, Any]) -> Rows:
    return [event for event in events if (event["suite"], event["run_id"]) == (run["suite"], run["run_id"])]


def manifests_of(folders: Sequence[Path]) -> list[Manifest]:
    """Manifests are for the reader's information: a report does without one that is missing or cannot be read."""
    found = []
    for folder in folders:
        with contextlib.suppress(OSError, ValidationError):
            found.append(Manifest.model_validate_json((folder / MANIFEST).read_bytes()))
    return found


def write_parquet(table: pa.Table, file: Path) -> Path:
    """One file a table, whole or not at all."""
    unfinished = file.with_name(f".{file.name}.new")
    pq.write_table(table, unfinished)
    return unfinished.replace(file)
