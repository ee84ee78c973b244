"""How many cells this machine can hold side by side."""

from pathlib import Path

_MOST = 16
_CELL_BYTES = 96 << 20
"""A cell's own pages are about 30 MB with one broker, 50 MB with three (what is forked stays shared); twice that."""


def memory_available_bytes() -> int:
    """What the kernel says programs can still take (proc(5), MemAvailable); a container's limit is not looked at."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) << 10
    return _MOST * _CELL_BYTES


def lanes_for(available_bytes: int | None = None) -> int:
    """16, less on little memory, never none."""
    available = memory_available_bytes() if available_bytes is None else available_bytes
    return max(1, min(_MOST, available // _CELL_BYTES))
