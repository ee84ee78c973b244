"""The report as JUnit XML, as `faultlab run --ci` writes it: of the folders on this machine."""

from collections.abc import Sequence
from pathlib import Path

from harness.records.folder import ResultsUnreadable
from harness.records.junit import write_junit
from harness.records.reader import Results, read


def write_junit_of(names: Sequence[str], file: Path) -> tuple[Path | None, tuple[str, ...]]:
    """The file, and a sentence on each folder that is left out; no file where all are: an empty one would look passed.

    Raises ResultsUnwritable.
    """
    found: list[Results] = []
    left_out: list[str] = []
    for name in names:
        try:
            found.append(read(Path(name)))
        except ResultsUnreadable as error:
            left_out.append(f"{file.name} leaves {name} out: {error.problem}")
    return (write_junit(file, found) if found else None), tuple(left_out)
