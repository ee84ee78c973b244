"""Making the report of results folders, with what Spark needs missing or broken turned into one message."""

import errno
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text

from cli.errors import CommandError
from cli.exit_codes import ExitCode
from reports import NoSuchFolder, NothingToReport, ReportError, ReportResult, build


class ProgressUnwritable(Exception):
    """Progress could not be printed: the cause is neither the report nor Spark."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


def make_report(
    screen: Console,
    *folders: Path | str,
    out: Path | None = None,
    on: str | None = None,
    archive: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> ReportResult:
    """Write the report, saying what is done. Raises CommandError where it cannot be made."""

    def tell(words: str) -> None:
        try:
            screen.print(Text(f"report  {words}", style="dim"))
        except OSError as error:
            raise ProgressUnwritable(error) from error

    try:
        made = build(
            folders,
            out=out,
            progress=tell,
            on=on,
            archive=archive,
            settings=settings,
        )
    except ProgressUnwritable as unsaid:
        raise unsaid.cause from None
    except NoSuchFolder as error:
        raise CommandError(error.text, error.remedy, code=ExitCode.USAGE) from error
    except NothingToReport as error:
        raise CommandError(error.text, error.remedy, code=ExitCode.NOTHING_SELECTED) from error
    except ReportError as error:
        raise CommandError(error.text, error.remedy, code=ExitCode.LAB_ERROR) from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise CommandError(
            f"cannot write the report: {error.filename or ''}: {error.strerror}",
            "make room, or name another folder with --out" if full else "name a folder that can be written with --out",
            code=ExitCode.LAB_ERROR,
        ) from error
    for remark in made.remarks:
        screen.print(Text(f"note    {remark}"))
    return made
