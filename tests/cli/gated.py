"""Two suites for tests of `gate` and `compare`: how the gate is asked, and how a suite comes from elsewhere."""

import json
from pathlib import Path

from command_line import Done, faultlab

RUNS = 12
"""Runs of each case in either suite."""


def on_machine(folder: Path, machine: str) -> None:
    """As if the suite had run on real sockets of some machine: virtual time is the same everywhere."""
    for name in ("manifest.json", "runs.jsonl"):
        path = folder / name
        path.write_text(path.read_text().replace('"environment":"sim"', '"environment":"local"'))
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"machine": machine, "environment": "local"}))


def gate(*arguments: str | Path, cwd: Path) -> Done:
    done = faultlab("gate", *arguments, cwd=cwd)
    if done.out and "--json" not in arguments:
        assert done.widest() <= 80
    return done
