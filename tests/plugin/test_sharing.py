"""Protects what a worker asks of the main process: replies and errors come back as they were, and what a worker no
longer waits for is stopped."""

import multiprocessing
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_faultlab_engine import Request
from pytest_faultlab_results import LabFailed, ScenarioMistakes
from pytest_faultlab_sharing import RemoteRunner, RunnerServer

LIMIT_S = 30.0
REQUEST = Request(arguments=("run", "--", "a b", "\udcff"), folder="/somewhere", environment={"NAME": "\udcff \n"})


class Recorder:
    """A `Runner` that replies with what it was asked, or raises `error`; `waiting` documents last until they are
    stopped."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.waiting = False
        self.asked = threading.Event()
        self.stopped = threading.Event()

    def document(self, request: Request, *, unless: Any = None) -> dict[str, Any]:
        self.asked.set()
        if self.error is not None:
            raise self.error
        if self.waiting:
            unless.settimeout(LIMIT_S)
            assert unless.recv(1) == b""
            self.stopped.set()
        return {"asked": request.document()}

    def listing(self, request: Request) -> dict[str, Any]:
        return {"listed": request.document()}

    def start(self, request: Request, cases: Sequence[str]) -> None:
        self.started = (request, cases)

    def case(self, case: str, request: Request) -> dict[str, Any]:
        return {"case": case, "asked": request.document()}

    def end(self) -> None: ...


@pytest.fixture
def runner() -> Recorder:
    return Recorder()


@pytest.fixture
def remote(runner: Recorder, tmp_path: Path) -> Iterator[RemoteRunner]:
    """In a folder whose path is longer than that of a socket may be."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    server = RunnerServer(runner, folder)
    yield RemoteRunner(folder)
    server.close()


def test_requests_and_replies_come_through_as_they_are(remote: RemoteRunner, runner: Recorder) -> None:
    document = REQUEST.document()
    document["arguments"] = list(document["arguments"])
    assert remote.document(REQUEST) == {"asked": document}
    assert remote.listing(REQUEST) == {"listed": document}
    assert remote.case("one[a=1]", REQUEST) == {"case": "one[a=1]", "asked": document}
    remote.start(REQUEST, ["one[a=1]", "two"])
    assert runner.started == (REQUEST, ["one[a=1]", "two"])


@pytest.mark.parametrize("error", [ScenarioMistakes("x.scenario.yaml:1:2: no"), LabFailed("no cell\nbecause")])
def test_errors_come_through_as_they_are(remote: RemoteRunner, runner: Recorder, error: Exception) -> None:
    runner.error = error
    with pytest.raises(type(error)) as caught:
        remote.document(REQUEST)
    assert str(caught.value) == str(error)


def test_what_a_worker_no_longer_waits_for_is_stopped(remote: RemoteRunner, runner: Recorder) -> None:
    """The worker is a process of its own, which is killed while it waits."""
    runner.waiting = True
    worker = multiprocessing.get_context("spawn").Process(target=remote.document, args=(REQUEST,))
    worker.start()
    assert runner.asked.wait(LIMIT_S)
    worker.kill()
    worker.join()
    assert runner.stopped.wait(LIMIT_S)


def test_a_worker_whose_main_process_has_gone_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(LabFailed, match="main process of pytest"):
        RemoteRunner(tmp_path).listing(REQUEST)
