"""A report's tables for notebooks: as pandas frames, read from the Parquet files that the report left."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from reports.errors import NothingToReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report on disk; `folder` has its Parquet files."""

    folder: Path

    @classmethod
    def of(cls, results: Path) -> "Report":
        """That of a results folder, or of the folder that `--out` named. Raises NothingToReport."""
        folder = results / "report"
        if not any(folder.glob("*.parquet")):
            raise NothingToReport(f"{results} has no report", f"make it: faultlab report {results}")
        return cls(folder=folder)

    @property
    def names(self) -> tuple[str, ...]:
        """The tables that there are; docs/REPORTS.md says what is in each."""
        return tuple(sorted(file.stem for file in self.folder.glob("*.parquet")))

    def frame(self, name: str) -> pd.DataFrame:
        """The table of that name. Nested columns hold arrays and dictionaries; counts with gaps stay whole numbers.

        Raises NothingToReport where there is no such table.
        """
        if name not in self.names:
            raise NothingToReport(f"{self.folder} has no table {name}", f"name one of {', '.join(self.names)}")
        return pd.read_parquet(self.folder / f"{name}.parquet", dtype_backend="numpy_nullable")
