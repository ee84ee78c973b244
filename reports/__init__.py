"""The reports room: Spark turns a suite's records into tables and one page that needs nothing but a browser.

This module stays light on purpose: the command line imports it on machines without Spark, and only `build` needs more.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from reports.errors import JavaFailed, JavaMissing, NothingToReport, ReportError, ReportsNotInstalled
from reports.result import ReportResult

__all__ = [
    "JavaFailed",
    "JavaMissing",
    "NothingToReport",
    "ReportError",
    "ReportResult",
    "ReportsNotInstalled",
    "build",
]

NEEDED = ("pyspark", "pyarrow", "jinja2")


def build(folders: Sequence[Path], *, out: Path | None = None, progress: Callable[[str], None]) -> ReportResult:
    """Write `report.html` and `report/` for one or more result folders.

    They go to `out`, by default into the first folder. `progress` is called with a short line at each stage.

    Raises NothingToReport (no folder, or no run in them), JavaMissing, JavaFailed, ReportsNotInstalled: all of them
    ReportError, whose text says what to do.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ReportsNotInstalled(missing)
    from reports.report import write_report

    return write_report(folders, out=out, progress=progress)
