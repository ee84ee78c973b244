"""A Ctrl-C that waits until what it must not divide is done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruption_held_back() -> Iterator[None]:
    """A Ctrl-C takes effect behind the block: one between a program's start and its name would leave it running."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if came:
        handler(came[0], None)
