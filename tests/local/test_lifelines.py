"""Protects the promise that nothing is left: whatever kills faultlab, within two seconds no process, namespace, rule,
mount or temporary folder of it is there any more; and a Ctrl-C reaches faultlab alone."""

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from machine import MARK, mounts_of_ours, network_namespaces_of, processes_marked
from machine_noise import measured_lateness

pytestmark = [pytest.mark.cell, pytest.mark.ci]

HERE = Path(__file__).parent
CELLS = 4
LIMIT_S = 2.0


def _victim(mark: str, cells: int = CELLS, **variables: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(HERE / "victim.py"), str(cells)],
        env={**os.environ, MARK: mark, "PYTHONPATH": f"{HERE}:{HERE.parents[1]}", **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _wait_up(victim: "subprocess.Popen[str]") -> None:
    assert victim.stdout is not None
    assert victim.stdout.readline() == "up\n"


def _gone_within_s(mark: str) -> float:
    began, late_s = time.monotonic(), measured_lateness()
    while processes_marked(mark):
        assert time.monotonic() - began < LIMIT_S + late_s(), f"left: {processes_marked(mark)}"
        time.sleep(0.005)
    return time.monotonic() - began


def _kill_and_look(temporary: Path, delay_s: float | None) -> None:
    """Kill a suite `delay_s` after its start, or as soon as all of its cells are up."""
    mark = uuid.uuid4().hex
    victim = _victim(mark, TMPDIR=str(temporary))
    try:
        if delay_s is None:
            _wait_up(victim)
            held = processes_marked(mark)
            # In each cell launcher, init, conductor, broker, Toxiproxy, subject and its helper; faultlab, the zygote.
            assert len(held) >= CELLS * 7 + 2
            assert len(network_namespaces_of(held)) == CELLS + 1
        else:
            time.sleep(delay_s)
    finally:
        victim.kill()
    victim.communicate()
    _gone_within_s(mark)
    # Namespaces and rules live as long as a process, or a mount, holds them.
    assert mounts_of_ours() == []
    assert list(temporary.iterdir()) == []
    assert not Path("/dev/shm/left-behind").exists()


def test_a_kill_of_a_suite_that_is_up_leaves_nothing(tmp_path: Path) -> None:
    _kill_and_look(tmp_path, None)


@pytest.mark.parametrize("moment", range(20))
def test_a_kill_at_any_moment_leaves_nothing(moment: int, tmp_path: Path) -> None:
    # Imports, the zygote's start, the first cells, all cells: random, and the same in every session.
    _kill_and_look(tmp_path, random.Random(moment).uniform(0.0, 3.0))


@pytest.mark.parametrize("victims", ["zygote", "conductor", "init", "launcher"])
def test_the_death_of_one_process_takes_what_hangs_on_it(victims: str) -> None:
    mark = uuid.uuid4().hex
    victim = _victim(mark, cells=1)
    try:
        _wait_up(victim)
        chain = [victim.pid]
        for _ in range(4):
            chain.append(_oldest_child(chain[-1]))
        pid = chain[1 + ["zygote", "launcher", "init", "conductor"].index(victims)]
        others = set(processes_marked(mark)) - {victim.pid, chain[1]}
        assert pid in others | {chain[1]}
        os.kill(pid, signal.SIGKILL)
        until, late_s = time.monotonic() + LIMIT_S, measured_lateness()
        while left := others & set(processes_marked(mark)):
            assert time.monotonic() < until + late_s(), f"left: {left}"
            time.sleep(0.005)
    finally:
        victim.kill()
        victim.communicate()
    _gone_within_s(mark)


def test_a_terminal_s_ctrl_c_reaches_faultlab_alone() -> None:
    """The victim ignores SIGINT, as a suite does that ends in good order: its cells must not have noticed."""
    mark = uuid.uuid4().hex
    victim = _victim(mark, cells=2)
    try:
        _wait_up(victim)
        before = _all_started(mark)
        os.killpg(victim.pid, signal.SIGINT)
        time.sleep(0.3)
        assert sorted(processes_marked(mark)) == before
    finally:
        victim.kill()
        victim.communicate()
    _gone_within_s(mark)


def _all_started(mark: str) -> list[int]:
    """The processes, once no more come: a cell is up before the last of its helpers is."""
    until = time.monotonic() + LIMIT_S
    before: list[int] = []
    while (now := sorted(processes_marked(mark))) != before:
        assert time.monotonic() < until, f"processes come and go: {now}"
        before = now
        time.sleep(0.3)
    return now


def _oldest_child(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0])
