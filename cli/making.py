"""Making the report of results folders, with what Spark needs missing or broken turned into one message."""

import errno
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.text import Text

from cli.errors import Stop
from cli.exits import Exit
from reports import NoSuchFolder, NothingToReport, ReportError, ReportResult, build


class Unsaid(Exception):
    """What is done could not be said: nothing of that is the report's fault, nor Spark's."""

    def __init__(self, why: OSError) -> None:
        super().__init__(str(why))
        self.why = why


def make_report(
    screen: Console,
    *folders: Path | str,
    out: Path | None = None,
    on: str | None = None,
    archive: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> ReportResult:
    """Write the report, saying what is done. Raises Stop where it cannot be made."""

    def tell(words: str) -> None:
        try:
            screen.print(Text(f"report  {words}", style="dim"))
        except OSError as error:
            raise Unsaid(error) from error

    try:
        made = build(
            folders,
            out=out,
            progress=tell,
            on=on,
            archive=archive,
            settings=settings,
        )
    except Unsaid as unsaid:
        raise unsaid.why from None
    except NoSuchFolder as error:
        raise Stop(error.text, error.remedy, code=Exit.USAGE) from error
    except NothingToReport as error:
        raise Stop(error.text, error.remedy, code=Exit.NOTHING) from error
    except ReportError as error:
        raise Stop(error.text, error.remedy, code=Exit.LAB) from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise Stop(
            f"cannot write the report: {error.filename or ''}: {error.strerror}",
            "make room, or name another folder with --out" if full else "name a folder that can be written with --out",
            code=Exit.LAB,
        ) from error
    for remark in made.remarks:
        screen.print(Text(f"note    {remark}"))
    return made
