"""One runner for all workers of xdist: the process that starts them owns it, and they ask it over a unix socket.

The socket lies in a folder that only this user can enter. A connection carries one request and one reply, each a line
of JSON; a connection that the worker closes early stops what it asked for.

Imports nothing but the standard library and the modules beside it.
"""

import json
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pytest_faultlab_engine import Request
from pytest_faultlab_results import LabFailed, ScenarioMistakes
from pytest_faultlab_runner import Runner

SOCKET = "runner"
ERRORS: dict[str, type[ScenarioMistakes | LabFailed]] = {
    "mistakes": ScenarioMistakes,
    "failed": LabFailed,
}
"""The errors of a `Runner`, by their names in a reply."""


class RunnerServer:
    """Answers requests with a runner; each in a thread of its own, since most of them wait. Raises OSError."""

    def __init__(self, runner: Runner, folder: Path) -> None:
        """`folder` is private and empty."""
        self.folder = folder
        self._runner = runner
        self._listener = socket.socket(socket.AF_UNIX)
        try:
            with _short_path(folder) as address:
                self._listener.bind(address)
            self._listener.listen()
        except BaseException:
            self._listener.close()
            raise
        threading.Thread(target=self._accept, name="faultlab-workers", daemon=True).start()

    def close(self) -> None:
        """Accept no more requests."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError), connection, connection.makefile("rwb") as stream:  # the worker may have gone
            line = stream.readline()
            if line.endswith(b"\n"):
                stream.write(_line(self._reply(json.loads(line), connection)))

    def _reply(self, asked: dict[str, Any], connection: socket.socket) -> dict[str, Any]:
        request = Request.parse(asked["request"])
        try:
            match asked["what"]:
                case "document":
                    return {"reply": self._runner.document(request, unless=connection)}
                case "listing":
                    return {"reply": self._runner.listing(request)}
                case "start":
                    self._runner.start(request, asked["cases"])
                    return {"reply": None}
                case _:
                    return {"reply": self._runner.case(asked["case"], request)}
        except tuple(ERRORS.values()) as error:
            return {next(name for name, kind in ERRORS.items() if isinstance(error, kind)): str(error)}


class RemoteRunner:
    """The `Runner` of a worker: a `RunnerServer` listens in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def document(self, request: Request, *, unless: socket.socket | None = None) -> dict[str, Any]:
        __tracebackhide__ = True
        return self._ask(what="document", request=request.document())

    def listing(self, request: Request) -> dict[str, Any]:
        __tracebackhide__ = True
        return self._ask(what="listing", request=request.document())

    def start(self, request: Request, cases: Sequence[str]) -> None:
        __tracebackhide__ = True
        self._ask(what="start", request=request.document(), cases=list(cases))

    def case(self, case: str, request: Request) -> dict[str, Any]:
        __tracebackhide__ = True
        return self._ask(what="case", request=request.document(), case=case)

    def end(self) -> None:
        """The runner ends with the process that owns it."""

    def _ask(self, **asked: object) -> dict[str, Any]:
        __tracebackhide__ = True
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                with _short_path(self._folder) as address:
                    connection.connect(address)
                with connection.makefile("rwb") as stream:
                    stream.write(_line(asked))
                    stream.flush()
                    line = stream.readline()
        except OSError as error:
            raise LabFailed(f"the main process of pytest cannot be asked to run scenarios: {error.strerror}") from None
        if not line.endswith(b"\n"):
            raise LabFailed("the main process of pytest, which runs the scenarios, has ended")
        answer = json.loads(line)
        for name, kind in ERRORS.items():
            if name in answer:
                raise kind(answer[name])
        found: dict[str, Any] = answer["reply"]
        return found


def _line(document: object) -> bytes:
    return json.dumps(document).encode() + b"\n"


@contextmanager
def _short_path(folder: Path) -> Iterator[str]:
    """A path of the socket in this folder: a socket's own may have 107 bytes, which temporary folders exceed."""
    number = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{number}/{SOCKET}"
    finally:
        os.close(number)
