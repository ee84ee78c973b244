"""What the hosts of a simulation log, each to its own standard error."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.environments.sim.hosts import HOST
from harness.environments.sim.loop import SimLoop

LOGGERS = ("faultlab.client", "harness.brokers")
"""Loggers of the code that runs on hosts."""


class _HostLog(logging.Handler):
    """Hands a record to the standard error of the host that logged it, if that host is this loop's."""

    def __init__(self, loop: SimLoop) -> None:
        super().__init__()
        self._loop = loop

    def emit(self, record: logging.LogRecord) -> None:
        host = HOST.get(None)
        if host is not None and host.loop is self._loop and host.stderr is not None:
            host.stderr(self.format(record) + "\n")


@contextmanager
def captured_logs(loop: SimLoop) -> Iterator[None]:
    """While entered, what this loop's hosts log goes to their standard errors."""
    handler = _HostLog(loop)
    for name in LOGGERS:
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeHandler(handler)


def append_to_file(path: Path) -> Callable[[str], None]:
    """A standard error that is kept in a file, which exists once there is something to keep."""

    def append(text: str) -> None:
        with path.open("a", encoding="utf-8") as log:
            log.write(text)

    return append
