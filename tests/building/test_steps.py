"""Protects the machine from builds that outlive their builder."""

import os
import signal
import subprocess
from typing import Any

import pytest

from harness.building.steps import run_step


def test_an_interruption_while_a_program_starts_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program runs already, and has no name yet by which it could be ended."""
    started: list[int] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            started.append(self.pid)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        run_step(["sleep", "300"], "sleeping", lambda _: None, {})
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)
