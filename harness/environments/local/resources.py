"""How many cells this machine can hold side by side."""

from pathlib import Path

from harness.brokers.kind import EMBEDDED, cluster_kind

MOST = 16
MOST_AUTO = 64
"""Where the machine decides: as many as two cores keep exact while they wait (`bench/lab_error.py --waiting 64`)."""
_CELL_BYTES = 18 << 20
"""A cell's own pages without its brokers; what is forked stays shared."""
_BROKERS = 3
_RESERVE = 2
"""Each cell is given so many times what it was seen to need with three brokers."""


def memory_available_bytes() -> int:
    """What the kernel says programs can still take (proc(5), MemAvailable); a container's limit is not looked at."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) << 10
    return MOST_AUTO * _lane_bytes()


def lanes_for(available_bytes: int | None = None, *, most: int = MOST) -> int:
    """At most so many, less on little memory, never none."""
    available = memory_available_bytes() if available_bytes is None else available_bytes
    return max(1, min(most, available // _lane_bytes()))


def _lane_bytes() -> int:
    return _RESERVE * (_CELL_BYTES + cluster_kind(EMBEDDED).memory_bytes(_BROKERS))
