"""How a suite is run and shown, and the options that say so to several commands."""

from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from cli.arguments import FILE
from cli.terminal.console import console

CI_OPTIONS = (
    click.Option(["--ci"], is_flag=True, help="For CI: groups, annotations, a summary, JUnit XML; nothing moves."),
    click.Option(["--junit"], type=FILE, metavar="FILE", help="Write JUnit XML there too."),
)
"""Of commands that a CI system runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a suite is run and shown: nothing that changes which runs it has.

    `quoted`: the output is part of another command's log, which has its own annotations: this one writes none.
    """

    json: bool
    show_all: bool
    cells: int | None
    report: bool
    stream: bool = False
    ci: bool = False
    quoted: bool = False
    junit: Path | None = None

    def screen(self) -> Console:
        """Where the suite is shown."""
        return console(json=self.json, ci=self.ci, quoted=self.quoted)

    def junit_files(self, folder: Path) -> tuple[Path, ...]:
        """The files of JUnit XML: the one that was asked for, and in CI one beside the results."""
        beside = (folder / "junit.xml",) if self.ci else ()
        return (*beside, self.junit) if self.junit is not None else beside
