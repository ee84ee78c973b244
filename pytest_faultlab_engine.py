"""The engine as a child process: no pytest, nothing but the standard library.

The child is isolated from PYTHONPATH, the current folder and this process's sys.path, and it answers in JSON. So a
project may have packages named client, cli, harness or reports of its own without conflict.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from pytest_faultlab_results import LabFailed, ScenarioMistakes

SHUTDOWN_TIMEOUT_S = 15.0
"""How long the engine may take to end in good order before it is killed."""

PACKAGE_ROOT = Path(__file__).resolve().parent
CHILD_PROGRAM = """\
import socket
import sys
sys.path.insert(0, sys.argv[1])
from harness.environments.local.syscalls import die_with_parent
die_with_parent(int(sys.argv[2]))
from cli.fork_server import serve
sys.exit(serve(socket.socket(fileno=int(sys.argv[3]))))
"""
"""Its own packages come first, whatever else is installed, and it ends with the process that asked, even killed."""

USAGE, NOTHING = 4, 5
"""Exit codes of faultlab: a scenario or an option is wrong; nothing was selected."""
KILLED = -int(signal.SIGKILL)


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


class Engine:
    """A process of faultlab, isolated from this one's modules and paths, in which commands are begun."""

    def __init__(self) -> None:
        self._stderr_file = _memory_file()  # a pipe that is not read would block the engine
        self._control, child_socket = socket.socketpair()
        words = [
            sys.executable,
            "-I",
            "-c",
            CHILD_PROGRAM,
            str(PACKAGE_ROOT),
            str(os.getpid()),
            str(child_socket.fileno()),
        ]
        # Its own process group: Ctrl-C in a terminal reaches this process alone, which then signals each command once.
        self._process = subprocess.Popen(
            words, pass_fds=[child_socket.fileno()], process_group=0,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._stderr_file,
        )  # fmt: skip
        child_socket.close()

    @property
    def alive(self) -> bool:
        """The kernel ends it with the thread that made it."""
        return self._process.poll() is None

    def start_command(self, arguments: Sequence[str], *, cwd: Path) -> "Command":
        """Begin a command of faultlab. Raises LabFailed where the engine cannot."""
        __tracebackhide__ = True
        asked = {"arguments": list(arguments), "folder": str(cwd), "environment": dict(os.environ)}
        stderr_file = _memory_file()
        out, write_out = os.pipe()
        status, write_status = os.pipe()
        with _memory_file(json.dumps(asked)) as request, suppress(OSError):
            socket.send_fds(self._control, [b"!"], [request.fileno(), write_out, stderr_file.fileno(), write_status])
        os.close(write_out)
        os.close(write_status)
        command = Command(os.fdopen(out, "rb"), stderr_file, os.fdopen(status, "rb", buffering=0))
        if command.pid is None:
            command.end()
            self._process.wait(SHUTDOWN_TIMEOUT_S)
            raise LabFailed(f"faultlab cannot begin\n{self._close()}".rstrip())
        return command

    def end(self) -> None:
        """End it, and every command that it began."""
        self._control.close()
        try:
            self._process.wait(SHUTDOWN_TIMEOUT_S)
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self._close()

    def _close(self) -> str:
        """Close its files and return its stderr. Left open, they would warn in tests that turn warnings into errors."""
        self._control.close()
        return _read_and_close(self._stderr_file)


class Command:
    """One command of faultlab, running. Ends with `end`, or by itself."""

    def __init__(self, out: IO[bytes], stderr_file: IO[bytes], status: IO[bytes]) -> None:
        self._out, self._stderr_file, self._status = out, stderr_file, status
        self._words = ""
        first = status.readline()
        self.pid = int(first) if first else None
        self._code: int | None = None

    def line(self) -> dict[str, Any] | None:
        """The next line of JSON; None when the command has ended."""
        text = b"" if self._out.closed else self._out.readline()
        if not text.endswith(b"\n"):
            return None
        found: dict[str, Any] = json.loads(text)
        return found

    def document(self) -> dict[str, Any]:
        """The one JSON document that it says, once it has ended. Raises ScenarioMistakes, LabFailed."""
        __tracebackhide__ = True
        try:
            text = self._out.read()
        finally:
            self.end()
        if not text.strip():
            raise self.failure()
        found: dict[str, Any] = json.loads(text)
        return found

    def failure(self) -> Exception:
        """Why it ended without an answer."""
        self.end()
        if self._code in (USAGE, NOTHING):
            return ScenarioMistakes(self._words)
        return LabFailed(f"faultlab ended without an answer (exit {self._code})\n{self._words}".rstrip())

    def end(self) -> None:
        """Have it end in good order, where it has not: runs under way are stopped, what ended is kept."""
        try:
            if self._code is None and self.pid is not None:
                try:
                    if not self._ended(within_s=0.0):
                        os.kill(self.pid, signal.SIGTERM)
                    if not self._ended(within_s=SHUTDOWN_TIMEOUT_S):
                        raise LabFailed(f"faultlab did not end within {SHUTDOWN_TIMEOUT_S:g} s: it was killed")
                except BaseException:
                    self._code = KILLED
                    with suppress(OSError):
                        os.killpg(self.pid, signal.SIGKILL)
                    raise
        finally:
            self._out.close()
            self._status.close()
            self._words = self._words or _read_and_close(self._stderr_file)

    def _ended(self, *, within_s: float) -> bool:
        """Whether it has written its exit code, or ended without one."""
        waiting = select.poll()
        waiting.register(self._status, select.POLLIN)
        if self._code is None and waiting.poll(within_s * 1000):
            last = self._status.readline()
            self._code = int(last) if last else KILLED
        return self._code is not None


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


class Batch:
    """Cases that one command runs side by side; each result is available as soon as the case is over, in any order."""

    def __init__(
        self, engine: Engine, options: Sequence[str], files: Sequence[str], cases: Sequence[str], out: Path, cwd: Path
    ) -> None:
        chosen = [part for case in cases for part in ("--case", case)]
        words = ["run", "--stream", *options, *chosen, "--out", str(out), "--", *files]
        self._command = engine.start_command(words, cwd=cwd)
        self._out = out
        self._open = set(cases)
        self._replies: dict[str, dict[str, Any]] = {}
        self._failure: Exception | None = None
        self._note: str | None = None

    def __contains__(self, case: str) -> bool:
        return case in self._open

    def case(self, case: str) -> dict[str, Any]:
        """What faultlab says of a case, with the folder of its `results`, and a `note` where the world is not the one
        that one might expect; or just the `text` that says why it cannot be run. Waits for its end.

        Raises LabFailed, ScenarioMistakes: then for every case that is still open.
        """
        while case not in self._replies:
            if self._failure is not None:
                raise self._failure
            line = self._command.line()
            if line is None:
                self._failure = self._command.failure()
            elif "begun" in line:
                self._note = line["begun"]["note"]
            elif "case" in line:
                self._replies[line["case"]["id"]] = {**line["case"], "results": str(self._out), "note": self._note}
            elif "impossible" in line:
                self._replies.update(dict.fromkeys(line["impossible"]["ids"], line["impossible"]))
        self._open.discard(case)
        return self._replies.pop(case)

    def end(self) -> None:
        """In peace where every case was asked for, else by stopping what is under way. May be called again."""
        try:
            while not self._open and self._command.line() is not None:
                pass  # the last line is the whole suite
        finally:
            self._open.clear()
            self._command.end()
