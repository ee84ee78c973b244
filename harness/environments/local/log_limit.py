"""How much a subject may write on its standard error: an endless log would fill the disk."""

import asyncio
import os
from collections.abc import Callable

from harness.environments.world import LOG_LIMIT_BYTES

_EVERY_S = 0.1


class LogLimit:
    """Polls the size of a log; above the limit `kill` is called, and the log keeps its beginning.

    `log` is a descriptor of its own: a log whose name was removed still fills the disk, and has to be polled.
    """

    def __init__(self, log: int, kill: Callable[[], None]) -> None:
        self.exceeded = False
        self._log = log
        self._kill = kill
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(_EVERY_S, self._look)

    def _look(self) -> None:
        if os.fstat(self._log).st_size > LOG_LIMIT_BYTES:
            self.exceeded = True
            self._kill()
            os.ftruncate(self._log, LOG_LIMIT_BYTES)
        else:
            self._timer = self._loop.call_later(_EVERY_S, self._look)

    def end(self) -> None:
        """Look no more. A second call does nothing."""
        self._timer.cancel()
        if self._log >= 0:
            os.close(self._log)
            self._log = -1
