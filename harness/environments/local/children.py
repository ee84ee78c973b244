"""Processes that the conductor starts: forked or executed, ended with it, and missed at once when they die.

asyncio's own subprocesses wait in threads or share a child watcher; a pidfd is one file per process on the loop.
"""

import asyncio
import contextlib
import errno
import gc
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.environments.local.cell import close_files_except, run_and_exit
from harness.environments.local.syscalls import die_with_parent


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildFiles:
    """Standard streams of a child, and what else of ours it keeps. Numbers of files that are open here."""

    stdin: int
    stdout: int
    stderr: int
    kept: tuple[int, ...] = field(default=())


class ChildProcess:
    """A process of ours, on the running loop. `ended` is done when it has ended and been collected.

    Its result is the exit code, or the negative number of the signal that killed it. `killed` says that we did.
    """

    def __init__(self, name: str, pid: int) -> None:
        self.killed = False
        self.name = name
        self.pid = pid
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self._watched = os.pidfd_open(pid)
        self._loop.add_reader(self._watched, self._collect)

    async def wait(self) -> int:
        """Wait until it has ended; `ended` stays as it is where the waiting is cancelled."""
        return await asyncio.shield(self.ended)

    def alive(self) -> bool:
        return not self.ended.done()

    def kill(self, *, whole_group: bool) -> None:
        """SIGKILL, to its process group too where it leads one. No effect where it has ended."""
        if self.alive():
            self.killed = True
            with contextlib.suppress(ProcessLookupError):
                if whole_group:
                    os.killpg(self.pid, signal.SIGKILL)
                else:
                    signal.pidfd_send_signal(self._watched, signal.SIGKILL)

    def pause(self) -> None:
        """SIGSTOP. No effect where it has ended."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT. No effect where it has ended, or was not paused."""
        self._signal(signal.SIGCONT)

    def is_stopped(self) -> bool:
        """Whether the kernel lists it as stopped (proc_pid_stat(5))."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return False
        return stat.rpartition(")")[2].split()[0] == "T"

    def _signal(self, number: signal.Signals) -> None:
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._watched, number)

    def _collect(self) -> None:
        self._loop.remove_reader(self._watched)
        os.close(self._watched)
        _, status = os.waitpid(self.pid, 0)
        self.ended.set_result(os.waitstatus_to_exitcode(status))

    def describe_exit(self) -> str:
        """`ended with exit code 1`, `was killed by SIGSEGV`; only after `ended`."""
        code = self.ended.result()
        if code >= 0:
            return f"ended with exit code {code}"
        return f"was killed by {signal.Signals(-code).name}"


def fork(name: str, work: Callable[[], int], files: ChildFiles) -> ChildProcess:
    """Run `work` in a forked process with nothing else of ours open; its result is the exit code."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        run_and_exit(lambda: _forked(work, files, parent))
    return ChildProcess(name, pid)


def execute(name: str, argv: Sequence[str], environment: Mapping[str, str], files: ChildFiles) -> ChildProcess:
    """Start a program, found on PATH, without a shell, as leader of a process group of its own.

    Raises OSError where it cannot be executed.
    """
    error_reader, error_writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        run_and_exit(lambda: _executed(argv, environment, files, error_writer, parent))
    os.close(error_writer)
    # Closed by exec itself, or written to where exec failed.
    with os.fdopen(error_reader, "rb") as error_pipe:
        failed = error_pipe.read()
    if failed:
        os.waitpid(pid, 0)
        number = int(failed)
        raise OSError(number, os.strerror(number), argv[0])
    return ChildProcess(name, pid)


def _forked(work: Callable[[], int], files: ChildFiles, parent: int) -> int:
    gc.freeze()
    _prepare(files, files.kept, parent)
    return work()


def _executed(
    argv: Sequence[str], environment: Mapping[str, str], files: ChildFiles, error_writer: int, parent: int
) -> int:
    os.setpgid(0, 0)
    _prepare(files, (*files.kept, error_writer), parent)
    # Python ignores these, and exec would hand that down.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    for number in files.kept:
        os.set_inheritable(number, True)
    try:
        os.execvpe(argv[0], list(argv), dict(environment))  # noqa: S606 - on purpose: no shell
    except OSError as failed:
        os.write(error_writer, str(failed.errno or errno.EINVAL).encode())
    return 127


def _prepare(files: ChildFiles, kept: tuple[int, ...], parent: int) -> None:
    die_with_parent(parent)
    signal.set_wakeup_fd(-1)
    # Above the standard numbers first: one of them may be another's source.
    sources = [os.dup(number) for number in (files.stdin, files.stdout, files.stderr)]
    for place, source in enumerate(sources):
        os.dup2(source, place)
    close_files_except((0, 1, 2, *kept))
    asyncio.set_event_loop(None)
