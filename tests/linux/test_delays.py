"""Protects how lateness is counted: by the kernel, for every thread, from the start of a process to after its end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

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
