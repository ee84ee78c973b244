"""What a report left behind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportResult:
    """`page` is the HTML file, `markdown` the timeout table as text, `junit` all runs as JUnit XML, `tables` the
    Parquet files by table name, `csv` the same for spreadsheets.

    `quarantined` counts lines and files that could not be read, `runs` the runs that count; `remarks` are sentences on
    the folders: suites that are not over, runs that are there more than once. `seconds` is the whole time taken,
    the Java virtual machine's start included.
    """

    page: Path
    markdown: Path
    junit: Path
    tables: Mapping[str, Path]
    quarantined: int
    runs: int
    seconds: float
    csv: Mapping[str, Path] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
