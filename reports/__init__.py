"""The reports room: Spark turns a suite's records into tables and one page that needs nothing but a browser.

This module stays light on purpose: the command line imports it on machines without Spark, and only `build` needs more.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from reports.errors import JavaFailed, JavaMissing, NoSuchFolder, NothingToReport, ReportError, ReportsNotInstalled
from reports.result import ReportResult

if TYPE_CHECKING:
    from reports.frames import Report

__all__ = [
    "JavaFailed",
    "JavaMissing",
    "NoSuchFolder",
    "NothingToReport",
    "ReportError",
    "ReportResult",
    "ReportsNotInstalled",
    "build",
    "read",
]

NEEDED = ("pyspark", "pyarrow", "pandas", "jinja2")


def build(
    folders: Sequence[Path | str],
    *,
    out: Path | None = None,
    progress: Callable[[str], None],
    on: str | None = None,
    archive: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> ReportResult:
    """Write `report.html` and `report/` for result folders: names, patterns (`results/2026*`) or URIs (`s3a://...`).

    They go to `out`, by default into the first folder. `on` is the master of a Spark cluster, `archive` a new folder or
    URI that takes the records as Parquet files, `settings` are more settings for Spark. `progress` is called with a
    short line at each stage.

    Raises NothingToReport (no folder, or no run in them), JavaMissing, JavaFailed, ReportsNotInstalled: all of them
    ReportError, whose text says what to do.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ReportsNotInstalled(missing)
    from reports.report import ReportRequest, write_report

    names = [str(folder) for folder in folders]
    request = ReportRequest(folders=names, out=out, on=on, archive=archive, settings=settings or {})
    return write_report(request, progress=progress)


def read(folder: Path | str) -> "Report":
    """The tables of a report that `faultlab report` wrote into this folder, for notebooks: no Java is started.

    Raises NothingToReport where there is no report, ReportsNotInstalled.
    """
    missing = [name for name in ("pandas", "pyarrow") if find_spec(name) is None]
    if missing:
        raise ReportsNotInstalled(missing)
    from reports.frames import Report

    return Report.of(Path(folder))
