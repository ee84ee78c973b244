"""Two suites for tests of `gate` and `compare`: how the gate is asked, and how a suite comes from elsewhere."""

import shutil
from pathlib import Path

from command_line import Done, faultlab

from harness.records.reader import read
from harness.records.writer import Writer

RUNS = 12
"""Runs of each case in either suite."""


def on_machine(folder: Path, machine: str) -> None:
    """As if the suite had run on real sockets of some machine: virtual time is the same everywhere."""
    found = read(folder)
    shutil.rmtree(folder)
    manifest = found.manifest.model_copy(update={"machine": machine, "environment": "local"})
    with Writer.create(folder, manifest) as writer:
        for run in found.runs:
            writer.write(run.model_copy(update={"environment": "local"}), ())


def gate(*arguments: str | Path, cwd: Path) -> Done:
    done = faultlab("gate", *arguments, cwd=cwd)
    if done.out and "--json" not in arguments:
        assert done.widest() <= 80
    return done
