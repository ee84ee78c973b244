"""The engine as a child process, and the commands that run in it: no pytest, nothing but the standard library.

The engine is the one that is installed beside this file, else a `faultlab` that is installed elsewhere. It is isolated
from PYTHONPATH, the current folder and this process's sys.path, and it answers in JSON. So a project may have packages
named client, cli, harness or reports of its own without conflict.
"""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from pytest_faultlab_results import LabFailed, ScenarioMistakes

STOP_TIMEOUT_S = 5.0
"""How long a command or the engine may take to end in good order. Killing it then loses nothing: runs are written as
they end, and no cell outlives the command."""

PACKAGE_ROOT = Path(__file__).resolve().parent
CHILD_PROGRAM = """\
import sys
sys.path.insert(0, sys.argv.pop(1))
from cli.entry import main
sys.exit(main())
"""
"""Its own packages come first, whatever else is installed."""
PROGRAM = "faultlab"
ENGINE_IS_HERE = (PACKAGE_ROOT / "cli" / "fork_server.py").is_file()
"""Else it is installed elsewhere, and what its packages add is not known here."""

USAGE, NOTHING = 4, 5
"""Exit codes of faultlab: a scenario or an option is wrong; nothing was selected."""
KILLED = -int(signal.SIGKILL)
OBTAINING = b"obtaining "
"""Begins what a command says of something that this machine lacks and that it builds or downloads."""


def scenario_argument(scenario: object, out: Path) -> str:
    """The command line's argument; a text or a mapping goes to a file first. Raises ScenarioMistakes, LabFailed."""
    __tracebackhide__ = True
    if isinstance(scenario, Mapping):
        try:
            scenario = json.dumps(scenario, indent=2, default=os.fspath) + "\n"  # JSON is YAML
        except (TypeError, ValueError, RecursionError) as error:
            raise ScenarioMistakes(f"this mapping is no scenario: {error}") from None
    if not isinstance(scenario, str | os.PathLike):
        raise ScenarioMistakes(f"a scenario is a path, a name, a text or a mapping, not {type(scenario).__name__}")
    if isinstance(scenario, str) and "\n" in scenario:
        path = out / "scenario.yaml"  # pytest collects no file of this name, wherever results are kept
        try:
            path.write_bytes(scenario.encode(errors="surrogatepass"))  # invalid text is then reported with its place
        except OSError as error:
            raise LabFailed(f"cannot write {path}: {error.strerror}; name another --faultlab-out") from error
        return str(path)
    return os.fsdecode(scenario)


def settings_arguments(settings: object) -> list[str]:
    """Settings in place of the scenario's own, as the command line takes them. Raises ScenarioMistakes."""
    __tracebackhide__ = True
    if not isinstance(settings, Mapping):
        raise ScenarioMistakes(f"settings are names with values ({{'time': '2s'}}), not {type(settings).__name__}")
    return [f"--set={name}={json.dumps(v) if isinstance(v, bool) else v}" for name, v in settings.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A command of faultlab: the words after its name, the folder that it runs in, and its environment variables."""

    arguments: tuple[str, ...]
    folder: str
    environment: Mapping[str, str]

    @classmethod
    def of(cls, arguments: Iterable[str], folder: Path) -> "Request":
        """In `folder`, with the environment variables of this process."""
        return cls(arguments=tuple(arguments), folder=str(folder), environment=dict(os.environ))

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> "Request":
        """From JSON values."""
        return cls(**{**document, "arguments": tuple(document["arguments"])})

    def document(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    def with_options(self, *options: str) -> "Request":
        """The same command with more options."""
        command, *others = self.arguments
        return Request(arguments=(command, *options, *others), folder=self.folder, environment=self.environment)


@dataclass(frozen=True, slots=True)
class EngineProgram:
    """How the engine is started: a program with its first arguments, and environment variables."""

    words: tuple[str, ...]
    environment: Mapping[str, str]

    @classmethod
    def find(cls, named: str | None) -> "EngineProgram":
        """The program that the user names, else the engine beside this file, else the `faultlab` on PATH.

        Raises LabFailed where there is none.
        """
        __tracebackhide__ = True
        if named is None and ENGINE_IS_HERE:
            return cls((sys.executable, "-I", "-c", CHILD_PROGRAM, str(PACKAGE_ROOT)), os.environ)
        found = shutil.which(named or PROGRAM)
        if found is None:
            where = "on PATH" if named is None else f"at {named}"
            raise LabFailed(
                f"there is no program {PROGRAM} {where}\ninstall it where it disturbs nothing (pipx install, uv tool"
                " install), or name it with --faultlab-engine"
            )
        # What is meant for the Python of this project is not for that of the engine; its commands get it all the same.
        others = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return cls((found,), {**others, "PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1"})


class Engine:
    """A process of faultlab, isolated from this one's modules and paths, in which commands are started.

    The kernel ends it with the thread that made it.
    """

    def __init__(self, program: EngineProgram, say: Callable[[str], None]) -> None:
        """`say` gets a line at each stage of what a command obtains, from the thread that waits for the command."""
        self._say = say
        self._stderr_file = _memory_file()  # a pipe that is not read would block the engine
        self._control, child_socket = socket.socketpair()
        words = [*program.words, "--engine", str(os.getpid()), str(child_socket.fileno())]
        # Its own process group: Ctrl-C in a terminal reaches this process alone, which then signals each command once.
        self._process = subprocess.Popen(
            words, pass_fds=[child_socket.fileno()], process_group=0, env=program.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._stderr_file,
        )  # fmt: skip
        child_socket.close()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def start_command(self, request: Request, stdout: int) -> "Command":
        """Start a command that writes to the open file `stdout`. Raises LabFailed where the engine cannot."""
        __tracebackhide__ = True
        stderr_file = _memory_file()
        status, write_status = os.pipe()
        with _memory_file(json.dumps(request.document())) as asked, suppress(OSError):
            socket.send_fds(self._control, [b"!"], [asked.fileno(), stdout, stderr_file.fileno(), write_status])
        os.close(write_status)
        command = Command(stderr_file, os.fdopen(status, "rb", buffering=0), self._say)
        if command.pid is None:
            command.end()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP_TIMEOUT_S)
            raise LabFailed(f"faultlab cannot begin\n{self._close()}".rstrip())
        return command

    def document(self, request: Request, *, unless: socket.socket | None = None) -> dict[str, Any]:
        """The one JSON document that a command ends with. The command ends early when `unless` becomes readable.

        Raises ScenarioMistakes, LabFailed.
        """
        __tracebackhide__ = True
        with _memory_file() as stdout:  # unlike a pipe, it need not be read while the command runs
            command = self.start_command(request, stdout.fileno())
            try:
                command.wait(unless=unless)
            finally:
                command.end()
            stdout.seek(0)
            text = stdout.read()
        if not text.strip() or command.killed:
            raise command.failure()
        found: dict[str, Any] = json.loads(text)
        return found

    def end(self) -> None:
        """End it, and every command that it started."""
        self._control.close()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except BaseException as error:
            self._process.kill()
            self._process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
        finally:
            self._close()

    def _close(self) -> str:
        """Close its files and return its stderr. Left open, they would warn in tests that turn warnings into errors."""
        self._control.close()
        return _read_and_close(self._stderr_file)


class Command:
    """One command of faultlab, running. It ends with `end`, or by itself. `pid` is None where it could not start."""

    def __init__(self, stderr_file: IO[bytes], status: IO[bytes], say: Callable[[str], None]) -> None:
        self._stderr_file, self._status, self._say = stderr_file, status, say
        self._words = ""
        first = status.readline()
        self.pid = int(first) if first else None
        self._code: int | None = None
        self._ending = threading.Lock()

    @property
    def killed(self) -> bool:
        """Whether it ended without an exit code of its own."""
        return self._code == KILLED

    def wait(self, timeout_s: float | None = None, *, unless: socket.socket | None = None) -> bool:
        """Wait for its end; False where the time is over or `unless` is readable before that."""
        waiting = select.poll()
        for file in (self._status, unless):
            if file is not None:
                waiting.register(file, select.POLLIN)
        until = None if timeout_s is None else time.monotonic() + timeout_s
        while self._code is None:
            left_s = None if until is None else max(0.0, until - time.monotonic())
            ready = {number for number, _ in waiting.poll(None if left_s is None else left_s * 1000)}
            if self._status.fileno() in ready:
                self._read_status()
            if not ready or (unless is not None and unless.fileno() in ready):
                break
        return self._code is not None

    def look(self) -> None:
        """Pass on what it said meanwhile, for one that waits for something else. Waits for nothing."""
        if self._ending.acquire(blocking=False):
            try:
                if not self._status.closed:
                    self.wait(0.0)
            finally:
                self._ending.release()

    def _read_status(self) -> None:
        line = self._status.readline()
        if line.startswith(OBTAINING):
            self._say(line.removeprefix(OBTAINING).decode(errors="replace").strip())
        else:
            self._code = int(line) if line else KILLED

    def end(self) -> None:
        """Have it end in good order where it has not: runs under way are stopped, what ended is kept."""
        with self._ending:
            if self._status.closed:
                return
            try:
                if self.pid is not None and not self.wait(0.0):
                    with suppress(ProcessLookupError):
                        os.kill(self.pid, signal.SIGTERM)
                    self.wait(STOP_TIMEOUT_S)
            finally:
                if self.pid is not None and self._code is None:
                    self._code = KILLED
                    with suppress(OSError):
                        os.killpg(self.pid, signal.SIGKILL)
                self._status.close()
                self._words = _read_and_close(self._stderr_file)

    def failure(self) -> Exception:
        """Why it ended without an answer."""
        self.end()
        if self._code in (USAGE, NOTHING):
            return ScenarioMistakes(self._words)
        return LabFailed(f"faultlab ended without an answer (exit {self._code})\n{self._words}".rstrip())


def _memory_file(text: str = "") -> IO[bytes]:
    """A file without a name, open at its beginning. A full disk must not hide why nothing can be written to it."""
    file = os.fdopen(os.memfd_create("faultlab"), "w+b")
    file.write(text.encode())
    file.seek(0)
    return file


def _read_and_close(stderr_file: IO[bytes]) -> str:
    """All that was written to the file, which is closed; nothing of one that was closed before."""
    if stderr_file.closed:
        return ""
    with stderr_file:
        stderr_file.seek(0)
        return stderr_file.read().decode(errors="replace").strip()
