"""Protects when cells start: never many at once, and with `--cells auto` no more of them than start in time."""

import threading
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from harness.environments.local import starting
from harness.environments.local.starting import AT_ONCE, FILL_S, StartGate

LIMIT_S = 10.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Passes time for the gate."""
    now_s = [100.0]
    monkeypatch.setattr(starting.time, "monotonic", lambda: now_s[0])

    def advance(seconds: float) -> None:
        now_s[0] += seconds

    return advance


def waits(gate: StartGate, stack: ExitStack) -> threading.Event:
    """A cell that wants to start, from a thread of its own; set once it may."""
    entered, leave = threading.Event(), threading.Event()

    def lane() -> None:
        with gate.cell():
            entered.set()
            leave.wait(LIMIT_S)

    thread = threading.Thread(target=lane)
    thread.start()
    stack.callback(thread.join, LIMIT_S)
    stack.callback(leave.set)
    return entered


def test_a_cell_waits_until_fewer_are_starting() -> None:
    gate = StartGate()
    with ExitStack() as stack:
        slots = [stack.enter_context(gate.cell()) for _ in range(AT_ONCE)]
        third = waits(gate, stack)
        assert not third.wait(0.05)
        slots[0].end()
        assert third.wait(LIMIT_S)


def test_the_machine_decides_by_what_starts_have_taken(clock: Callable[[float], None]) -> None:
    gate = StartGate(paced=True)
    assert gate.most_live() == float("inf")
    for took_s in (0.2, 0.5, 9.0):
        with gate.cell() as slot:
            clock(took_s)
            slot.end()
    assert gate.most_live() == pytest.approx(FILL_S * AT_ONCE / 0.5)


def test_a_machine_on_which_starts_take_long_runs_few_cells(clock: Callable[[float], None]) -> None:
    gate = StartGate(paced=True)
    with ExitStack() as stack:
        with gate.cell() as first:
            clock(FILL_S * AT_ONCE)
            first.end()
            second = waits(gate, stack)
            assert not second.wait(0.05)
        assert second.wait(LIMIT_S)
        assert gate.most_live() == 1.0
