"""What this machine is, in one line: results of different machines are not compared."""

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path


def machine() -> str:
    """CPU model, cores that this process may use, memory: `AMD EPYC 7B13, 2 cores, 7.8 GiB`."""
    cores = len(os.sched_getaffinity(0))
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{_cpu()}, {cores} {'core' if cores == 1 else 'cores'}, {pages / 2**30:.1f} GiB"


def wall_clock() -> str:
    """Now, for people: ISO 8601 with zone. Nothing is computed from it."""
    return datetime.now(UTC).astimezone().isoformat(timespec="seconds")


def timestamp_name() -> str:
    """Now, as the name of a suite: `20260302-1402`, in local time, as the user's clock shows it."""
    return datetime.now(UTC).astimezone().strftime("%Y%m%d-%H%M")


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return found.group(1).strip() if found else platform.machine()
