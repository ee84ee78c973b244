"""A folder for one build at a time, beside what it makes: finished programs are moved out of it at once."""

import contextlib
import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def build_folder(beside: Path) -> Iterator[Path]:
    """An empty folder in `beside`, gone at the end; leftovers of a killed build go first. Others wait their turn.

    Raises OSError where `beside` cannot be written.
    """
    beside.mkdir(parents=True, exist_ok=True)
    with (beside / "building.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for leftover in beside.glob("building-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        build_dir = Path(tempfile.mkdtemp(prefix="building-", dir=beside))
        try:
            yield build_dir
        finally:
            shutil.rmtree(build_dir, ignore_errors=True)
