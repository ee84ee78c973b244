"""Protects the time to the first help: commands are told of without being imported, and as they tell of themselves."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import ROOT, environment

from cli import commands
from cli.command_help import read_command_help
from cli.main import Commands
from cli.main import faultlab as group

FOLDER = Path(*commands.__path__)
HEAVY = ("harness", "client", "reports", "pydantic", "rich", "yaml")


def test_the_overview_imports_no_command() -> None:
    told = f"import sys; from cli.main import main; main(['--help']); print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", told],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("[!_]*.py")), ids=lambda file: file.stem)
def test_what_is_read_is_what_the_command_says(file: Path) -> None:
    command = importlib.import_module(f"cli.commands.{file.stem}").command
    assert read_command_help(file) is not None
    assert isinstance(group, Commands)
    assert group.listed_command(group.make_context("faultlab", ["x"]), file.stem).get_short_help_str(60) == (
        command.get_short_help_str(60)
    )


def test_a_command_that_is_made_otherwise_is_imported_for_its_help(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import click\n\n\n@click.command()\ndef command() -> None:\n    '''Told.'''\n")
    assert read_command_help(tmp_path / "one.py") is None
    (tmp_path / "two.py").write_text("command = make(help=text)\n")
    assert read_command_help(tmp_path / "two.py") is None
