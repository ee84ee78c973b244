"""A timer of the event loop that is as exact as the kernel's (timerfd_create(2)): the loop's own ones wait for whole
milliseconds."""

import asyncio
import ctypes
import os
import struct
import time
from collections.abc import Callable

_libc = ctypes.CDLL(None, use_errno=True)
_TFD_TIMER_ABSTIME, _TFD_FLAGS = 1, os.O_NONBLOCK | os.O_CLOEXEC
_ITIMERSPEC = struct.Struct("@qqqq")


class ExactTimer:
    """Calls back once for each `set`, on the running loop; a later `set` replaces an earlier one."""

    def __init__(self, callback: Callable[[], None]) -> None:
        self._callback = callback
        self._file = _libc.timerfd_create(time.CLOCK_MONOTONIC, _TFD_FLAGS)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        asyncio.get_running_loop().add_reader(self._file, self._fired)

    def set(self, at_ns: int) -> None:
        """Fire at this moment of the monotonic clock; at once where it is over."""
        spec = _ITIMERSPEC.pack(0, 0, *divmod(max(at_ns, 1), 1_000_000_000))
        if _libc.timerfd_settime(self._file, _TFD_TIMER_ABSTIME, spec, None) < 0:
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._file)
        os.close(self._file)

    def _fired(self) -> None:
        try:
            os.read(self._file, 8)
        except BlockingIOError:
            return  # it was set anew meanwhile
        self._callback()
