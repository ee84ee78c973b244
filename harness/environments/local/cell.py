"""A cell: new namespaces with a process tree of their own, ended as a whole and leaving nothing behind.

    launcher            outside; forked by the opener of the cell; waits for init, so that the channel's end of file
      init              means that the whole cell is gone
        conductor       pid 1 inside; reaps; ends when the hold pipe closes or the conductor has ended
          ...           whatever the cell's body starts

Two lifelines, each enough alone: init ends as soon as the last write end of its hold pipe closes, and only the process
that opened the cell has one; and the kernel kills each process when its parent dies. The end of init is the end of
every process in the pid namespace, and with the last of them go the network, its rules and the tmpfs.
"""

import asyncio
import gc
import logging
import os
import pickle
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, TypeVar

from harness.environments.linux import sysctls
from harness.environments.local import namespaces
from harness.environments.local.channel import Channel, ChannelClosed
from harness.environments.local.syscalls import die_with_parent
from harness.environments.world import EnvironmentUnavailable

T = TypeVar("T")
Body = Callable[[Channel], None]

_ENDED = 0
_BROKE = 70  # EX_SOFTWARE of sysexits.h


def launch(body: Body, *, channel: socket.socket, lifeline: int) -> int:
    """Fork a cell in which `body(channel)` runs. Returns the launcher's process id, to be waited for.

    A refusal goes through the channel as `("unavailable", reason, remedy)`. `lifeline` is the read end of the hold
    pipe. Signals and standard streams are the caller's affair; every other file is closed in the cell.
    """
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        run_and_exit(lambda: _launcher(body, channel, lifeline, parent))
    return pid


def run_and_exit(work: Callable[[], int]) -> NoReturn:
    """Run a forked process' work and end it without the caller's clean-up, which is not its own."""
    status = _BROKE
    # What the caller had not flushed is the caller's to write, and its streams may not be files 1 and 2 at all.
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, closefd=False) for number in (1, 2))
    try:
        status = work()
    except BaseException:  # noqa: BLE001 - nothing of the caller's may run on in a fork
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _launcher(body: Body, channel: socket.socket, lifeline: int, parent: int) -> int:
    user = os.geteuid()
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    # They write to files of the caller's, whose descriptors will soon be reused.
    logging.getLogger().handlers.clear()
    close_files_except((0, 1, 2, channel.fileno(), lifeline))
    try:
        namespaces.enter()
    except OSError as refused:
        return _refused(channel, refused, user)
    die_with_parent(parent)
    pid = os.fork()
    if pid == 0:
        run_and_exit(lambda: _init(body, channel, lifeline, user))
    os.close(lifeline)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) & 0xFF


def _refused(channel: socket.socket, refused: OSError, user: int) -> int:
    why = namespaces.explain(refused, user=user)
    Channel(channel).send(("unavailable", why.reason, why.remedy))
    return _ENDED


def _init(body: Body, channel: socket.socket, lifeline: int, user: int) -> int:
    die_with_parent(0)
    try:
        namespaces.configure()
    except OSError as refused:
        return _refused(channel, refused, user)
    sysctls.pin()
    kills_before = oom_kills()
    wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    conductor = os.fork()
    if conductor == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        run_and_exit(lambda: _conductor(body, channel))
    waiting = select.poll()
    waiting.register(lifeline, 0)
    waiting.register(wake, select.POLLIN)
    while True:
        for ready, _ in waiting.poll():
            if ready == lifeline:
                return _ENDED
            os.read(wake, 4096)
            status = _reap(conductor)
            if status is None:
                continue
            if status < 0:
                by_kernel = kills_before is None or oom_kills() != kills_before
                Channel(channel).try_send(("killed", signal.Signals(-status).name, by_kernel))
            return status & 0xFF


def oom_kills() -> int | None:
    """How many processes the kernel has killed for want of memory so far; None where it does not say."""
    with suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                return int(count)
    return None


def _reap(conductor: int) -> int | None:
    """Collect every ended child, orphans too. The conductor's exit code if it was among them, or the negative number
    of the signal that killed it."""
    ended = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if pid == conductor:
            ended = os.waitstatus_to_exitcode(status)


def _conductor(body: Body, channel: socket.socket) -> int:
    die_with_parent(1)
    close_files_except((0, 1, 2, channel.fileno()))
    body(Channel(channel))
    return _ENDED


def close_files_except(kept: tuple[int, ...]) -> None:
    """Close every file of this process but these, so that a fork keeps no other process' pipe open."""
    low = 0
    for number in sorted(kept):
        if number > low:  # closerange(n, n) closes everything from n on
            os.closerange(low, number)
        low = number + 1
    os.closerange(low, os.sysconf("SC_OPEN_MAX"))


def call_in_cell(function: Callable[[], Awaitable[T]], *, timeout_s: float) -> T:
    """Run an async function on a plain asyncio loop in a new cell forked from the calling process.

    The result, or the exception with the cell's traceback as a note, comes back by pickle. Raises
    EnvironmentUnavailable where namespaces are refused, TimeoutError when `timeout_s` is over: the cell is then ended.
    """

    def body(channel: Channel) -> None:
        channel.send(_outcome(function))

    deadline_s = time.monotonic() + timeout_s
    ours, theirs = socket.socketpair()
    lifeline, lifeline_writer = os.pipe()
    launcher = launch(body, channel=theirs, lifeline=lifeline)
    theirs.close()
    os.close(lifeline)
    channel = Channel(ours)
    try:
        kind, *rest = channel.receive(deadline_s)
    except TimeoutError:
        raise TimeoutError(f"the cell had not ended after {timeout_s:g} s, and was ended") from None
    except ChannelClosed:
        raise RuntimeError("the cell ended without a result; its standard error says why") from None
    finally:
        os.close(lifeline_writer)
        os.waitpid(launcher, 0)
        channel.close()
    if kind == "unavailable":
        raise EnvironmentUnavailable(*rest)
    if kind == "raised":
        raise rest[0]
    result: T = rest[0]
    return result


def _outcome(function: Callable[[], Awaitable[T]]) -> tuple[str, object]:
    async def main() -> T:
        return await function()

    # The loop of the forking process, if one runs, is not this process' own.
    asyncio.set_event_loop(None)
    gc.freeze()
    try:
        return ("returned", asyncio.run(main()))
    except BaseException as exc:  # noqa: BLE001 - whatever it is, it belongs to the caller
        return ("raised", _picklable(exc))


def _picklable(exc: BaseException) -> BaseException:
    """The exception, or where it does not survive pickling a RuntimeError with its name and text; with its traceback
    as a note."""
    story = "in the cell:\n" + "".join(traceback.format_exception(exc))
    try:
        whole: BaseException = pickle.loads(pickle.dumps(exc))  # noqa: S301 - made here
    except Exception:  # noqa: BLE001 - constructors may raise anything
        whole = RuntimeError(f"{type(exc).__name__}: {exc}")
    whole.add_note(story)
    return whole


def probe_namespaces() -> EnvironmentUnavailable | None:
    """Open and end an empty cell. None where that works, else why not and what to do."""
    try:
        call_in_cell(_nothing, timeout_s=10)
    except EnvironmentUnavailable as refused:
        return refused
    except (TimeoutError, RuntimeError) as exc:
        return EnvironmentUnavailable(
            f"a cell could not be opened ({exc})", "try again; `faultlab doctor` says what is missing"
        )
    return None


async def _nothing() -> None:
    return None
