"""What a user names as one side of a comparison: a results folder, or a baseline file."""

from pathlib import Path

from harness.comparing.cases import SuiteRuns
from harness.comparing.suite_runs import suite_runs_of
from harness.gating.baseline import read_baseline
from harness.records.folder import ResultsUnreadable
from harness.records.reader import read


def read_suite_runs(path: Path) -> SuiteRuns:
    """Raises ResultsUnreadable where the path is neither, or cannot be read by this version."""
    if path.is_dir():
        return suite_runs_of(read(path))
    if not path.exists():
        raise ResultsUnreadable(
            f"{path} does not exist", "name a folder that `faultlab run` made, or a file that `gate --update` wrote"
        )
    return read_baseline(path)
