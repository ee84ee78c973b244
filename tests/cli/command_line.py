"""The real command line, as a user has it: a process with its own folder, its streams read as text."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "cli")
LIMIT_S = 100.0

SCENARIO = """\
format: 1
scenario: {name}
about: A port goes dark.
tags: [{tags}]
client: {{profile: sarama, version: 1.27.2}}
settings:
  Net.ReadTimeout: 2s
  Net.DialTimeout: 1s
cluster: {{brokers: 1, topics: [{{name: orders}}]}}
steps:
  - {{do: connect}}
  - {{do: send, as: warm_up, expect: acknowledged}}
  - {{inject: blackhole, brokers: all, as: outage}}
  - {{do: send, as: probe, give_up_after: 60s}}
expect:
  - {{measure: probe.time_to_error, equals: {formula}, within: 1% + 50ms}}
  - {{measure: probe.time_to_error, claim: {claim}, within: 1% + 50ms, holds: {holds}, source: an article}}
matrix: {{settings.Producer.Retry.Max: {retries}}}
repeat: {repeat}
"""


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def widest(self) -> int:
        return max(cell_len(line) for line in self.lines)


def environment(**more: str) -> dict[str, str]:
    """The caller's, without what shapes output; the checkout's packages are importable from any folder."""
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "CI")}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def faultlab(
    *arguments: str | Path, cwd: Path, env: dict[str, str] | None = None, before: tuple[str, ...] = ()
) -> Done:
    """Run a command to its end. `before`: a program that starts it."""
    done = subprocess.run(
        [*before, *COMMAND, *map(str, arguments)],
        cwd=cwd, env=environment(**(env or {})), capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr + done.stdout, done.stderr + done.stdout
    return Done(done.returncode, done.stdout, done.stderr)


def write_scenario(
    folder: Path,
    name: str = "dark",
    *,
    formula: str = "Net.ReadTimeout",
    claim: str = "Net.DialTimeout",
    holds: str = "false",
    retries: str = "[0]",
    repeat: int = 1,
    tags: str = "sarama",
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.scenario.yaml"
    path.write_text(
        SCENARIO.format(name=name, formula=formula, claim=claim, holds=holds, retries=retries, repeat=repeat, tags=tags)
    )
    return path
