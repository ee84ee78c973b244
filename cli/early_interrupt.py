"""Ctrl-C before the command has begun: the process ends at once, for nothing of it is there to be ended in good order.

A KeyboardInterrupt in the middle of an import ends in a traceback, or in a callback of Python's own, which prints one.
"""

import os
import signal
from types import FrameType

INTERRUPTED = 130


def leave_at_once() -> None:
    """From here to `command_begins`. A signal that is ignored stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def command_begins() -> None:
    """From here on an interruption is an exception again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, b"error: interrupted\n")
    os._exit(INTERRUPTED)
