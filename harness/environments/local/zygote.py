"""A process forked before any thread exists, with everything imported, from which every cell is forked.

A Python start with all imports costs a third of a second of computing; a fork of this process a few milliseconds.
"""

import gc
import logging
import os
import select
import signal
import socket
import threading

from harness.environments.local.cell import Body, close_files_except, launch, run_and_exit
from harness.environments.local.channel import Channel
from harness.environments.local.preload import preload
from harness.environments.local.syscalls import die_with_parent

_OPEN = b"open"


class ZygoteExited(Exception):
    """The process from which cells are forked has ended; nothing can be opened any more."""


class CellHandle:
    """A cell, from outside. It lives until `end`, or until this process ends, or until its body has returned."""

    def __init__(self, channel: Channel, lifeline_writer: int) -> None:
        self.channel = channel
        self._held: int | None = lifeline_writer
        self._ending = threading.Lock()

    def end(self) -> None:
        """Close the lifeline: every process in the cell is killed. May be called from any thread, repeatedly."""
        with self._ending:
            if self._held is not None:
                os.close(self._held)
                self._held = None


class Zygote:
    """Started from the main thread while it is the only one: the kernel ties the zygote's life to that thread."""

    def __init__(self, body: Body) -> None:
        """`body` runs in every cell, with the cell's end of its channel."""
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("a zygote has to be started from the main thread")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            run_and_exit(lambda: _serve(theirs, body, parent))
        theirs.close()
        self._control = ours
        self._sending = threading.Lock()

    def open_cell(self) -> CellHandle:
        """Fork a new cell; whether it could be made, it says itself. From any thread. Raises ZygoteExited."""
        ours, theirs = socket.socketpair()
        lifeline, lifeline_writer = os.pipe()
        cell = CellHandle(Channel(ours), lifeline_writer)
        try:
            with self._sending:
                socket.send_fds(self._control, [_OPEN], [theirs.fileno(), lifeline])
        except OSError as exc:
            cell.end()
            cell.channel.close()
            raise ZygoteExited("the process that forks cells has ended") from exc
        finally:
            theirs.close()
            os.close(lifeline)
        return cell

    def close(self) -> None:
        """End the zygote, and with it every cell, and wait until it has gone."""
        self._control.close()
        # It would end by itself, but not while it is still building what cells are forked from.
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _serve(control: socket.socket, body: Body, parent: int) -> int:
    # A terminal's Ctrl-C goes to the foreground group: only faultlab itself shall get it.
    os.setsid()
    die_with_parent(parent)
    _detach_standard_streams()
    logging.getLogger().handlers.clear()
    close_files_except((0, 1, 2, control.fileno()))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    preload()
    gc.collect()
    # What is imported stays: no cell's collector walks it, so its pages stay shared.
    gc.freeze()
    wake, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    waiting = select.poll()
    waiting.register(control, select.POLLIN)
    waiting.register(wake, select.POLLIN)
    while True:
        for ready, _ in waiting.poll():
            if ready == wake:
                os.read(wake, 4096)
                _reap()
            elif not _open_one(control, body):
                return 0


def _open_one(control: socket.socket, body: Body) -> bool:
    """Take one request. False at the end of file: faultlab closed it, or has gone."""
    request, files, _, _ = socket.recv_fds(control, len(_OPEN), 2)
    if not request:
        return False
    channel, lifeline = socket.socket(fileno=files[0]), files[1]
    launch(body, channel=channel, lifeline=lifeline)
    channel.close()
    os.close(lifeline)
    return True


def _reap() -> None:
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


def _detach_standard_streams() -> None:
    """No cell reads the terminal or prints between the live rows. Standard error stays, for bugs of faultlab itself."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
