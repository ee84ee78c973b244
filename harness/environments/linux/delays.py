"""How long the processes of a run were kept from running: waiting for a CPU, by a hypervisor that gave the CPU to
another machine, or for memory that had to be read back.

The kernel counts, so reading at the start and at the end of a wait says what came in between. Sources: Linux
Documentation/scheduler/sched-stats.rst (`schedstat`), Documentation/accounting/psi.rst, proc_pid_stat(5), proc_stat(5).
"""

import os
from collections.abc import Callable
from pathlib import Path

Watch = Callable[[str, int], None]
"""Takes the name of a process and its id, to watch it from then on."""

PROC = Path("/proc")
_RUN_FIELD, _QUEUED_FIELD = 0, 1
"""In `schedstat`: nanoseconds on a CPU, and in a run queue."""
_BUSY_FIELDS, _STOLEN_FIELD = (0, 1, 2, 5, 6), 7
"""In `stat`, after `cpu`: ticks in which the machine's CPUs worked, and in which they would have."""
_WINDOW_TICKS = 10
"""So much work tells the share that is stolen; less is too coarse."""
_FAULTS_FIELD = 9
"""In `stat`, after the command's name: page faults that had to wait for a disk."""
_PRESSURES = ("io", "memory")


class ProcessDelays:
    """Delays of the processes that are watched, from their start on. `proc`: where the kernel tells of them."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._counted = (proc / "self" / "schedstat").exists()
        self._stolen = _StolenShare(proc / "stat")
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
        stalled_s, stolen_share = _stalled_s(self._proc), self._stolen.read()
        found: dict[str, float] = {}
        for process in self._watched:
            found[process.name] = found.get(process.name, 0.0) + process.delayed_s(stalled_s, stolen_share)
        return found


class _StolenShare:
    """How long the machine's CPUs were taken by the hypervisor for each second that they worked, lately."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._share = 0.0
        self._busy, self._stolen = self._ticks()

    def read(self) -> float:
        busy, stolen = self._ticks()
        if busy - self._busy >= _WINDOW_TICKS:
            self._share = (stolen - self._stolen) / (busy - self._busy)
            self._busy, self._stolen = busy, stolen
        return self._share

    def _ticks(self) -> tuple[int, int]:
        try:
            ticks = [int(count) for count in self._file.read_text().partition("\n")[0].split()[1:]]
            return sum(ticks[field] for field in _BUSY_FIELDS), ticks[_STOLEN_FIELD]
        except (OSError, IndexError, ValueError):
            return 0, 0  # a kernel that does not count it


class _Process:
    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder
        self._queued_s: dict[str, float] = {}
        self._run_s: dict[str, float] = {}
        self._stolen_s = 0.0
        self._faults = 0
        self._waited_s = 0.0
        self._stalled_s: float | None = None

    def delayed_s(self, stalled_s: float, stolen_share: float) -> float:
        """`stalled_s`: how long anybody on the machine has waited for memory or a disk. `stolen_share`: how much more
        time than it ran the process has lost to the hypervisor since the last call."""
        ran_s = sum(self._run_s.values())
        try:
            for thread in (self._folder / "task").iterdir():
                fields = (thread / "schedstat").read_text().split()
                self._run_s[thread.name] = int(fields[_RUN_FIELD]) / 1e9
                self._queued_s[thread.name] = int(fields[_QUEUED_FIELD]) / 1e9
            faults = int((self._folder / "stat").read_text().rpartition(")")[2].split()[_FAULTS_FIELD])
        except (OSError, IndexError, ValueError):
            faults = self._faults  # it has ended, or the kernel does not count
        if faults > self._faults and self._stalled_s is not None:
            self._waited_s += stalled_s - self._stalled_s
        self._faults, self._stalled_s = faults, stalled_s
        self._stolen_s += (sum(self._run_s.values()) - ran_s) * stolen_share
        return sum(self._queued_s.values()) + self._waited_s + self._stolen_s


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
