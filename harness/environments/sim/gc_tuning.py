"""Python's search for cyclic garbage, put off while a simulation runs: nearly all of a run goes away by itself.

A search in the middle of a run finds next to nothing, and makes what it finds alive look old, so that ever more of
the process is searched: a tenth of a run's time. Put off for longer than a run, it takes longer: the processor's caches
have lost what is searched.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

RELAXED_THRESHOLD = 50_000
"""Objects that a simulation may leave before it is searched: several runs' worth, a few megabytes."""

_lock = Lock()
_running = 0
_before = gc.get_threshold()


@contextmanager
def relaxed_gc() -> Iterator[None]:
    """While entered, by any thread, garbage is looked for every 50,000 objects; then as often as before."""
    global _running, _before
    with _lock:
        if _running == 0:
            _before = gc.get_threshold()
            gc.set_threshold(max(RELAXED_THRESHOLD, _before[0]) if _before[0] else 0, *_before[1:])
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                gc.set_threshold(*_before)
