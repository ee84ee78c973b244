"""One step of a build: a program that is run to its end, with a line every few seconds, and ended with its builder."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.interruption import interruption_held_back

_LIMIT_S = 900
_HEARTBEAT_S = 5
_OUTPUT_TAIL_BYTES = 2000

ReportProgress = Callable[[str], None]
"""Called with what is being done, a line at each stage and every few seconds."""


class StepFailed(Exception):
    """One step of a build did not succeed; the text says why."""


def run_step(
    command: Sequence[str],
    name: str,
    report: ReportProgress,
    environment: Mapping[str, str],
    *,
    folder: Path | None = None,
) -> None:
    """Run a command in `folder`, with `environment` added to ours. Its processes end with it, whatever happens.

    Raises StepFailed with the last line that it said.
    """
    with tempfile.TemporaryFile() as log:
        began = time.monotonic()
        process = None
        try:
            with interruption_held_back():
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **environment},
                    cwd=folder,
                    process_group=0,
                )
            while True:
                try:
                    process.wait(_HEARTBEAT_S)
                    break
                except subprocess.TimeoutExpired:
                    lasted_s = time.monotonic() - began
                    if lasted_s > _LIMIT_S:
                        raise StepFailed(f"{name} had not ended after {_LIMIT_S} s") from None
                    report(f"{name}, {lasted_s:.0f} s so far")
        finally:
            if process is not None and process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode != 0:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _OUTPUT_TAIL_BYTES))
            said = log.read().decode(errors="replace").strip().splitlines()
            raise StepFailed(f"{name} ended with {process.returncode}: {said[-1] if said else 'it said nothing'}")
