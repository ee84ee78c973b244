"""Protects how lateness is counted: by the kernel, for every thread, from the start of a process to after its end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.environments.linux.delays import ProcessDelays

BUSY = "while True: pass"
BUSY_THREAD = "import threading; threading.Thread(target=lambda: sum(iter(int, 1))).start()"


@contextmanager
def on_one_core(*programs: str) -> Iterator[list[int]]:
    """Programs that share one core, so that each of them is kept from running for much of the time."""
    core = min(os.sched_getaffinity(0))
    running = [subprocess.Popen([sys.executable, "-c", program]) for program in programs]
    try:
        for one in running:
            os.sched_setaffinity(one.pid, {core})
        yield [one.pid for one in running]
    finally:
        for one in running:
            one.kill()
            one.wait()


def read_until_above(delays: ProcessDelays, name: str, wanted_s: float) -> float:
    """The delay once it is above `wanted_s`; what it is after 20 s where it never is."""
    deadline_s = time.monotonic() + 20
    while delays.read().get(name, 0.0) <= wanted_s and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return delays.read()[name]


def test_a_process_that_waits_for_a_core_is_late_by_that() -> None:
    delays = ProcessDelays()
    with on_one_core(BUSY, BUSY) as (first, second):
        delays.watch("first", first)
        delays.watch("second", second)
        assert read_until_above(delays, "first", 0.2) > 0.2
        assert set(delays.read()) == {"first", "second"}


def test_what_a_process_lost_is_kept_when_it_is_stopped_or_has_ended() -> None:
    delays = ProcessDelays()
    with on_one_core(BUSY, BUSY) as (first, _):
        delays.watch("broker 1", first)
        lost_s = read_until_above(delays, "broker 1", 0.05)
        os.kill(first, signal.SIGSTOP)
    assert delays.read()["broker 1"] >= lost_s
    with on_one_core(BUSY, BUSY) as (second, _):
        delays.watch("broker 1", second)
        assert read_until_above(delays, "broker 1", lost_s + 0.05) > lost_s + 0.05


def test_every_thread_counts() -> None:
    delays = ProcessDelays()
    with on_one_core(BUSY_THREAD, BUSY) as (threaded, _):
        delays.watch("threaded", threaded)
        assert read_until_above(delays, "threaded", 0.2) > 0.2


def test_a_kernel_that_counts_nothing_is_not_taken_for_a_quiet_machine(tmp_path: Path) -> None:
    """An empty answer: the lab's own timers say then how late it is."""
    delays = ProcessDelays(tmp_path)
    delays.watch("broker 1", os.getpid())
    assert delays.read() == {}


def test_what_the_hypervisor_takes_of_a_process_s_own_time_counts(tmp_path: Path) -> None:
    """schedstat takes a process that runs on a CPU which the hypervisor has given away for one that runs."""

    def count(run_s: float, busy_ticks: int, stolen_ticks: int) -> None:
        for folder in (tmp_path / "self", tmp_path / "7" / "task" / "7"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "schedstat").write_text(f"{round(run_s * 1e9)} 0 5\n")
        (tmp_path / "7" / "stat").write_text("7 (broker) S" + " 0" * 49)
        (tmp_path / "stat").write_text(f"cpu  {busy_ticks} 0 0 9000 0 0 0 {stolen_ticks} 0 0\n")

    count(1.0, 1000, 50)
    delays = ProcessDelays(tmp_path)
    delays.watch("broker 1", 7)
    assert delays.read()["broker 1"] == 0.0
    count(3.0, 1400, 150)
    assert delays.read()["broker 1"] == pytest.approx(2.0 * 100 / 400)
    count(3.0, 1800, 350)
    assert delays.read()["broker 1"] == pytest.approx(0.5), "it did not run meanwhile"


FAULTING = """
import mmap, os, resource, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.write(file, b"x" * (32 << 20))
os.fsync(file)
sys.stdin.readline()
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
with mmap.mmap(file, 32 << 20) as pages:
    pages.madvise(mmap.MADV_RANDOM)
    sum(pages[place] for place in range(0, 32 << 20, 64 << 10))
print(resource.getrusage(resource.RUSAGE_SELF).ru_majflt, flush=True)
sys.stdin.readline()
"""


def test_a_process_whose_memory_has_to_be_read_from_a_disk_is_late_by_that(tmp_path: Path) -> None:
    """The process sleeps when it is read, so that the two readings of its time in run queues are the same."""
    command = [sys.executable, "-c", FAULTING, str(tmp_path / "pages")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        delays = ProcessDelays()
        delays.watch("faulting", process.pid)
        before_s = delays.read()["faulting"]
        process.stdin.write("\n")
        process.stdin.flush()
        faults = int(process.stdout.readline())
        after_s, queued_s = delays.read()["faulting"], queue_delay_s(process.pid)
        process.kill()
    if faults < 100 or not Path("/proc/pressure/io").exists():
        pytest.skip("this folder is on no disk, or the kernel counts no pressure")
    assert after_s > max(before_s, queued_s)


def queue_delay_s(pid: int) -> float:
    """Of a process of one thread, which sleeps."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
