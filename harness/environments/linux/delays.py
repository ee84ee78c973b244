"""How long the processes of a run were kept from running: waiting for a CPU, or for memory that had to be read back.

The kernel counts, so reading at the start and at the end of a wait says what came in between. Sources: Linux
Documentation/scheduler/sched-stats.rst (`schedstat`), Documentation/accounting/psi.rst, proc_pid_stat(5).
"""

import os
from collections.abc import Callable
from pathlib import Path

Watch = Callable[[str, int], None]
"""Takes the name of a process and its id, to watch it from then on."""

PROC = Path("/proc")
_QUEUED_FIELD = 1
"""In `schedstat`: nanoseconds in a run queue."""
_FAULTS_FIELD = 9
"""In `stat`, after the command's name: page faults that had to wait for a disk."""
_PRESSURES = ("io", "memory")


class ProcessDelays:
    """Delays of the processes that are watched, from their start on. `proc`: where the kernel tells of them."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._counted = (proc / "self" / "schedstat").exists()
        self._watched: list[_Process] = []

    def watch(self, name: str, pid: int) -> None:
        """Count this process too, under its name. A name may stand for several processes, one after the other."""
        self._watched.append(_Process(name, self._proc / str(pid)))

    def read(self) -> dict[str, float]:
        """Seconds by the process' name, so far; nothing a process lost after it was last read and then ended.

        Empty on a kernel that does not count (CONFIG_SCHED_INFO).
        """
        if not self._counted:
            return {}
        stalled_s = _stalled_s(self._proc)
        found: dict[str, float] = {}
        for process in self._watched:
            found[process.name] = found.get(process.name, 0.0) + process.delayed_s(stalled_s)
        return found


class _Process:
    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder
        self._queued_s: dict[str, float] = {}
        self._faults = 0
        self._waited_s = 0.0
        self._stalled_s: float | None = None

    def delayed_s(self, stalled_s: float) -> float:
        """`stalled_s`: how long anybody on the machine has waited for memory or a disk."""
        try:
            for thread in (self._folder / "task").iterdir():
                queued_ns = (thread / "schedstat").read_text().split()[_QUEUED_FIELD]
                self._queued_s[thread.name] = int(queued_ns) / 1e9
            faults = int((self._folder / "stat").read_text().rpartition(")")[2].split()[_FAULTS_FIELD])
        except (OSError, IndexError, ValueError):
            faults = self._faults  # it has ended, or the kernel does not count
        if faults > self._faults and self._stalled_s is not None:
            self._waited_s += stalled_s - self._stalled_s
        self._faults, self._stalled_s = faults, stalled_s
        return sum(self._queued_s.values()) + self._waited_s


def _stalled_s(proc: Path) -> float:
    """How long some process on some core has waited for memory or a disk; 0 on a kernel that does not count.

    The kernel gives the mean of the cores that are busy: this is the sum, if they are all that is there.
    """
    total_us = 0
    for kind in _PRESSURES:
        try:
            some = (proc / "pressure" / kind).read_text().partition("\n")[0]
        except OSError:
            continue
        total_us += int(some.rpartition("total=")[2])
    return total_us / 1e6 * (os.cpu_count() or 1)
