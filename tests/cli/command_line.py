"""The real command line, as a user has it: a process with its own folder, its streams read as text.

Most commands are forked from a process that has imported faultlab already: a start takes longer than what is tested.
Those whose start matters, or that start Java or cells, are started as a shell would.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.cells import cell_len

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "cli")
LIMIT_S = 100.0
STARTED = frozenset({"--report", "doctor", "local", "report"})
"""Words of command lines that begin as a shell would begin them."""
FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload(
    ["cli.main", "cli.commands.run", "cli.commands.explain", "cli.commands.validate", "cli.commands.list",
     "harness.environments.sim.environment", "client.profiles.sarama"]
)  # fmt: skip

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
    words = [str(argument) for argument in arguments]
    python = any(name.startswith("PYTHON") for name in env or {})
    plain = not before and not python and STARTED.isdisjoint(words)
    done = (_forked if plain else _started)(
        [*before, *([] if plain else COMMAND), *words], cwd, environment(**(env or {}))
    )
    assert "Traceback" not in done.err + done.out, done.err + done.out
    return done


def _started(command: list[str], cwd: Path, env: dict[str, str]) -> Done:
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def _forked(arguments: list[str], cwd: Path, env: dict[str, str]) -> Done:
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("out", "err")]
        process = FORKED.Process(target=_become, args=(arguments, cwd, env, streams))
        process.start()
        process.join(LIMIT_S)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(arguments, LIMIT_S)
        out, err = (stream.read_text() for stream in streams)
        return Done(process.exitcode, out, err)


def _become(arguments: list[str], cwd: Path, env: dict[str, str], streams: list[Path]) -> None:
    """The forked process from now on: a command in its own folder, with its own environment and streams."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for number, stream in enumerate(streams, start=1):
        os.dup2(os.open(stream, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    from cli.main import main

    sys.exit(main(arguments))


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
