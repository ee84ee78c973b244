"""The real clients, built once into the user's cache where there is a Go; a program and its lines."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from quick_clients import quick_clients

from harness.realclients import RealClientMissing, build, real_client

ROOT = Path(__file__).parents[2]
LIMIT_S = 60.0


BUILD_LIMIT_S = 900
"""On a new machine the first test that asks for a real client waits until Go has compiled all of them."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "built_client" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(BUILD_LIMIT_S))


@pytest.fixture(scope="session")
def built_client() -> Callable[[str, str], Path]:
    """`built_client("sarama", "1.27.2")` is the program around that release.

    The first that is missing has all those built that quick tests use: together they compile Go's own packages once.
    """

    def program(name: str, version: str) -> Path:
        client = real_client(name, version)
        if not client.built:
            if shutil.which("go") is None:
                pytest.skip(f"{client} is not built and there is no Go: faultlab clients build {client}")
            try:
                build([client, *quick_clients()], lambda line: print(line, file=sys.stderr))
            except RealClientMissing as missing:
                pytest.skip(str(missing))
        return client.found()

    return program


@pytest.fixture(scope="session")
def built(built_client: Callable[[str, str], Path]) -> Callable[[str], Path]:
    """`built("1.27.2")` is the program around that Sarama."""
    return lambda version: built_client("sarama", version)


class Spoken:
    """A subject without a lab: `ask` writes a command, `said` reads the next event."""

    def __init__(self, argv: list[str], launch: dict[str, Any]) -> None:
        record = {"protocol": 1, "client": "mine", "version": "", "bootstrap": [], "settings": {}, "seed": 1, **launch}
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "FAULTLAB_SUBJECT": json.dumps(record)},
        )  # fmt: skip

    def ask(self, **command: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def said(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        event: dict[str, Any] = json.loads(line)
        return event

    def answer(self, **command: Any) -> dict[str, Any]:
        """The answer to a command; traces and `started` before it are passed over."""
        self.ask(**command)
        while True:
            event = self.said()
            if event["ev"] in ("ok", "error") and event["id"] == command["id"]:
                return event

    def end(self) -> tuple[int, str]:
        """End its stdin. Exit code and stderr."""
        _, errors = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, errors


@pytest.fixture
def spoken() -> Iterator[Callable[..., Spoken]]:
    started: list[Spoken] = []

    def start(*argv: str | Path, **launch: Any) -> Spoken:
        started.append(Spoken([str(word) for word in argv], launch))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()


Faultlab = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def faultlab(tmp_path: Path) -> Faultlab:
    """The command line in a folder of its own."""

    def run(*arguments: str | Path, cwd: Path = tmp_path, **environment: str) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [sys.executable, "-m", "cli", *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, timeout=800,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run
