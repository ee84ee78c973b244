"""What runs a session's scenarios: one engine, and one command in it that runs all selected cases side by side.

Imports nothing but the standard library and the modules beside it.
"""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from pytest_faultlab_engine import STOP_TIMEOUT_S, Engine, EngineProgram, Request
from pytest_faultlab_results import LabFailed

FINISH_TIMEOUT_S = 60.0
"""How long a command may take to judge its cases together once all of them are over."""
LOOK_S = 0.5
"""How late what a command says of its own accord may be passed on."""


class Runner(Protocol):
    """Runs commands and cases; its methods may be called from any thread."""

    def document(self, request: Request, *, unless: socket.socket | None = None) -> dict[str, Any]:
        """The JSON document that a command ends with. The command is stopped when `unless` becomes readable.

        Raises ScenarioMistakes, LabFailed.
        """
        ...

    def listing(self, request: Request) -> dict[str, Any]:
        """The document of a command that has the same result whenever it runs. Raises ScenarioMistakes, LabFailed."""
        ...

    def start(self, request: Request, cases: Sequence[str]) -> None:
        """Run these cases, unless they were started before. Raises LabFailed.

        `request` is `faultlab run` with their scenarios, without the cases' names and without a results folder.
        """
        ...

    def case(self, case: str, request: Request) -> dict[str, Any]:
        """The result of a case, once it is over. One that is asked for again is run again, alone, as `request` says.

        Raises ScenarioMistakes, LabFailed.
        """
        ...

    def end(self) -> None:
        """Stop whatever still runs."""
        ...


class SessionRunner:
    """The `Runner` that owns the engine. `new_folder` makes a results folder, and may raise LabFailed."""

    def __init__(self, new_folder: Callable[[], Path], engine: str | None, say: Callable[[str], None]) -> None:
        """`engine` is a program that the user names; `say` shows a line, whichever thread calls it."""
        self._new_folder = new_folder
        self._say = say
        self._has_said = False
        self._engine_name = engine
        self._engine: Engine | None = None
        # The engine lives no longer than the thread that makes it: this one waits until `end`.
        self._engine_thread = ThreadPoolExecutor(1, thread_name_prefix="faultlab-engine")
        self._batch: Batch | None = None
        self._listings: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}
        self._state = threading.Lock()

    def document(self, request: Request, *, unless: socket.socket | None = None) -> dict[str, Any]:
        __tracebackhide__ = True
        return self._running_engine().document(request, unless=unless)

    def listing(self, request: Request) -> dict[str, Any]:
        """Workers of xdist all ask for the same one."""
        key = (request.folder, request.arguments)
        with self._state:
            if key not in self._listings:
                self._listings[key] = self.document(request)
            return self._listings[key]

    def start(self, request: Request, cases: Sequence[str]) -> None:
        with self._state:
            self._batch = self._batch or self._new_batch(request, cases)

    def case(self, case: str, request: Request) -> dict[str, Any]:
        batch = self._batch
        if batch is not None and batch.take(case):
            return batch.case(case)
        alone = self._new_batch(request, [case])
        try:
            alone.take(case)
            return alone.case(case)
        finally:
            alone.end()

    def end(self) -> None:
        batch, self._batch = self._batch, None
        engine, self._engine = self._engine, None
        try:
            if batch is not None:
                batch.end()
        finally:
            if engine is not None:
                engine.end()
            self._engine_thread.shutdown()

    def _new_batch(self, request: Request, cases: Sequence[str]) -> "Batch":
        return Batch(self._running_engine(), request, cases, self._new_folder())

    def _running_engine(self) -> Engine:
        try:
            start = self._engine_thread.submit(self._start_engine)
        except RuntimeError:
            raise LabFailed("this session of pytest has ended") from None
        return start.result()

    def _start_engine(self) -> Engine:
        if self._engine is not None and not self._engine.alive:
            self._engine.end()
            self._engine = None
        self._engine = self._engine or Engine(EngineProgram.find(self._engine_name), self._say_first)
        return self._engine

    def _say_first(self, line: str) -> None:
        """The first line names what is obtained, how long that takes and where it is kept."""
        if not self._has_said:
            self._has_said = True
            self._say(line)


class Batch:
    """Cases that one command runs side by side. Each result is there as soon as the case is over, in any order.

    A thread always reads what the command writes: a command whose pipe is full can neither continue nor end.
    """

    def __init__(self, engine: Engine, request: Request, cases: Iterable[str], out: Path) -> None:
        self._out = out
        self._unasked = set(cases)
        self._unfinished = set(cases)
        self._replies: dict[str, dict[str, Any]] = {}
        self._over = False
        self._note: str | None = None
        self._changed = threading.Condition()
        chosen = [f"--case={case}" for case in sorted(self._unasked)]
        read, write = os.pipe()
        try:
            self._command = engine.start_command(request.with_options("--stream", f"--out={out}", *chosen), write)
        except BaseException:
            os.close(read)
            raise
        finally:
            os.close(write)
        self._reader = threading.Thread(target=self._read, args=(read,), name="faultlab-results", daemon=True)
        self._reader.start()

    def take(self, case: str) -> bool:
        """Whether this case is part of the batch and was not asked for yet; it is asked for now."""
        with self._changed:
            taken = case in self._unasked
            self._unasked.discard(case)
            return taken

    def case(self, case: str) -> dict[str, Any]:
        """What faultlab says of a case, with the folder of its `results`, and a `note` where the environment is not the
        one that one might expect; or just the `text` that says why it cannot be run. Waits for its end.

        Raises LabFailed, ScenarioMistakes: then for every case that is still open.
        """
        with self._changed:
            while not self._changed.wait_for(lambda: self._over or case in self._replies, LOOK_S):
                self._command.look()
            if case in self._replies:
                return self._replies.pop(case)
        raise self._command.failure()

    def end(self) -> None:
        """Wait for the end of the command where every case is over, else stop it. May be called again."""
        with self._changed:
            finished = not self._unfinished
        try:
            if finished:
                self._command.wait(FINISH_TIMEOUT_S)
        finally:
            self._command.end()
            self._reader.join(STOP_TIMEOUT_S)

    def _read(self, out: int) -> None:
        with open(out, "rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    self._receive(json.loads(line))
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _receive(self, line: dict[str, Any]) -> None:
        with self._changed:
            if "begun" in line:
                self._note = line["begun"]["note"]
            elif "case" in line:
                self._replies[line["case"]["id"]] = {**line["case"], "results": str(self._out), "note": self._note}
            elif "impossible" in line:
                self._replies.update(dict.fromkeys(line["impossible"]["ids"], line["impossible"]))
            self._unfinished -= self._replies.keys()
            self._changed.notify_all()
