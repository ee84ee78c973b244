"""Making the report of a results folder, with what Spark needs missing or broken turned into one message."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from cli.errors import Stop
from cli.exits import Exit
from harness.records.reader import read
from reports import NothingToReport, ReportError, ReportResult, build


def make_report(screen: Console, *folders: Path, out: Path | None = None) -> ReportResult:
    """Write the report, saying what is done. Raises Stop where it cannot be made."""
    for folder in folders:
        read(folder)  # says which folder is no results folder, before a Java virtual machine starts
    try:
        return build(folders, out=out, progress=lambda words: screen.print(Text(f"report  {words}", style="dim")))
    except NothingToReport as error:
        raise Stop(error.text, error.remedy, code=Exit.NOTHING) from error
    except ReportError as error:
        raise Stop(error.text, error.remedy, code=Exit.LAB) from error
    except OSError as error:
        raise Stop(
            f"cannot write the report: {error.filename or ''}: {error.strerror}", "make room", code=Exit.LAB
        ) from error
