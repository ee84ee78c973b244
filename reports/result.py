"""What a report left behind."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportResult:
    """`page` is the HTML file, `markdown` the timeout table as text, `tables` the Parquet files by table name.

    `quarantined` counts lines that could not be read, `runs` the runs that count. `seconds` is the whole time taken,
    the Java virtual machine's start included.
    """

    page: Path
    markdown: Path
    tables: Mapping[str, Path]
    quarantined: int
    runs: int
    seconds: float
