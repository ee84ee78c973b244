"""Where the files of a results folder are, and what is said when the folder cannot be used."""

from dataclasses import dataclass
from pathlib import Path

MANIFEST = "manifest.json"
RUNS = "runs.jsonl"
EVENTS = "events.jsonl"
GROUPS = "groups.jsonl"
AGREEMENT = "agreement.jsonl"
LOGS = "logs"


@dataclass(frozen=True, slots=True)
class ResultsFolder:
    """The layout of `results/<suite>/`. Touches nothing by itself."""

    path: Path

    @property
    def manifest(self) -> Path:
        return self.path / MANIFEST

    @property
    def runs(self) -> Path:
        return self.path / RUNS

    @property
    def events(self) -> Path:
        return self.path / EVENTS

    @property
    def groups(self) -> Path:
        return self.path / GROUPS

    @property
    def agreement(self) -> Path:
        return self.path / AGREEMENT

    def log_folder(self, run_id: str, attempt: int) -> Path:
        """A run's own log folder; later tries have one each inside that of the first."""
        first = self.path / LOGS / run_id
        return first if attempt == 1 else first / f"try-{attempt}"


class RecordsError(Exception):
    """A results folder cannot be written or read: `problem` says what and where, `remedy` what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}")
        self.problem = problem
        self.remedy = remedy


class ResultsUnwritable(RecordsError):
    """A write failed (full disk, permissions). Every line written before it is whole and kept."""


class ResultsUnreadable(RecordsError):
    """There is no suite here, or none that this version can read."""


class ResultsFolderOccupied(RecordsError):
    """The folder already holds a suite, or another faultlab is writing to it."""
