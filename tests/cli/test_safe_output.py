"""Protects terminals: no text of a program under test, of a file or of a user is obeyed, wherever it is printed."""

import io
import re
import sys

import click
import pytest
from rich.live import Live
from rich.table import Table
from rich.text import Text

from cli.errors import print_error
from cli.terminal.console import console
from cli.terminal.safe_text import safe_streams

EVIL = "a\x1b]0;owned\x07b\x1b[2Jc\x9b31md\u202ee\u2028f\rg"
OWN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
"""What Rich says to a terminal: colours, and where its cursor is."""


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def opened(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Where stdout and stderr go. Not in a fixture: between that and the test, pytest captures both anew."""
    made = Terminal()
    monkeypatch.setattr(sys, "stdout", made)
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    return made


def shown(terminal: Terminal) -> str:
    left = OWN.sub("", terminal.getvalue())
    assert not re.search("[\x00-\x08\x0b-\x1f\x80-\x9f\u202e\u2028]", left), repr(left)
    assert "[2J" not in left.replace("\ufffd[2J", "")
    return left


def test_rows_and_tables_that_move_or_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = opened(monkeypatch)
    screen = console()
    table = Table()
    table.add_column(EVIL)
    table.add_row(Text(EVIL, style="red"))
    with Live(console=screen, get_renderable=lambda: Text(f"live {EVIL}", style="bold"), transient=True) as live:
        screen.print(table)
        screen.print(EVIL)
        print("plain", EVIL)  # Rich prints it above its live rows
        live.refresh()
    said = shown(terminal)
    assert said.count("]0;owned") >= 4
    assert "\x1b[1m" in terminal.getvalue(), "the lab's own colours stay"


def test_plain_text_and_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = opened(monkeypatch)
    with safe_streams():
        print_error(EVIL)
        click.echo(EVIL)
        click.echo(EVIL, err=True)
        print(EVIL, file=sys.stderr)
        console().print(EVIL, style="red")
    assert shown(terminal).count("]0;owned") == 5
    assert sys.stdout is terminal
