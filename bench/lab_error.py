"""The lab's own error: how far its times lie from those that a subject takes of itself.

    .venv/bin/python bench/lab_error.py [--sends 200] [--waiting 16] [--starts 20]

A sleeping subject (bench/subjects/sleeper.py) is measured by the arrival of its lines, alone and beside cells in which
a blackholed client waits; and bundled clients are started one at a time, from the call to `ready`. Prints figures and
targets with the machine's name; exits with 1 where a target is missed.
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from harness.conductor import conduct
from harness.environments.local.environment import LocalEnvironment
from harness.environments.world import RunInterrupted
from harness.faults import FAULTS
from harness.plan import ClientPlan, ClusterShape, PlannedFault, PlannedOperation, ResolvedValue, RunPlan, Topic
from harness.stats import median, p99
from harness.story import Event, EventKind, Story
from harness.suite.machine import machine

TARGET_ALONE_S, TARGET_LOADED_S, TARGET_READY_S = 0.002, 0.010, 1.0
"""Targets: p99 of the error alone, and beside waiting cells; median from the call to `ready`."""
SLEEPER = Path(__file__).parent / "subjects" / "sleeper.py"
WAIT_S = 300.0

BASE = RunPlan(
    run_id="lab-error", scenario="lab-error", path=Path(__file__), about="", tags=(), environment="local",
    client=ClientPlan(name="sleeper", version="1", argv=(sys.executable, "-S", str(SLEEPER))),
    settings=(), given_settings=(), parameters=(), steps=(), expectations=(), seed=1, repeat=1,
    cluster=ClusterShape(brokers=1, topics=(Topic(name="orders"),)),
)  # fmt: skip
BUNDLED = replace(BASE, client=ClientPlan(name="sarama", version="1.27.2", profile="sarama"))
READY = replace(BUNDLED, steps=(PlannedOperation(operation="start_client", alias="start"),))
WAITING = replace(
    BUNDLED,
    settings=(ResolvedValue(name="Net.ReadTimeout", text=f"{WAIT_S:g}s", unit="s", value=WAIT_S),),
    steps=(
        PlannedOperation(operation="connect", alias="connect", expect="ok"),
        PlannedOperation(operation="send", alias="warm_up", expect="acknowledged"),
        PlannedFault(fault=FAULTS["blackhole"](), alias="outage"),
        PlannedOperation(operation="send", alias="probe"),
    ),
)


def sleeper_plan(sends: int) -> RunPlan:
    return replace(
        BASE, steps=tuple(PlannedOperation(operation="send", alias=f"s{i}", expect="ok") for i in range(sends))
    )


def errors_s(story: Story) -> list[float]:
    """What the lab measured less what the sleeper says, of each send."""
    checked_story(story)
    subject_s = {
        str(h.fields["operation"]): int(str(h.fields["text"])) / 1e9
        for h in story.events
        if h.fields.get("purpose") == "slept"
    }
    found = []
    for operation in story.operations:
        assert operation.stamped == "harness", f"{operation.alias} was stamped by the {operation.stamped}"
        found.append(abs((operation.ended_ns - operation.started_ns) / 1e9 - subject_s[operation.alias]))
    return found


def checked_story(story: Story) -> Story:
    if story.error is not None:
        raise SystemExit(f"lab error {story.error.code}: {story.error.text}")
    return story


def to_ready_s(local: LocalEnvironment) -> float:
    """From the call to the subject's `ready`, on the one monotonic clock of this machine."""
    called_ns = time.monotonic_ns()
    story = checked_story(local.run(READY, lambda _: None, None))
    ready: Event = next(h for h in story.events if h.kind == EventKind.CLIENT_READY)
    return (story.origin_ns + ready.at_ns - called_ns) / 1e9


def start_waiting_cells(local: LocalEnvironment, count: int) -> list[threading.Thread]:
    """Start cells and return once a client waits for a blackholed port in each of them."""
    waits = [threading.Event() for _ in range(count)]

    def lane(number: int) -> None:
        def progress(text: str) -> None:
            if text == "send probe":
                waits[number].set()

        plan = replace(WAITING, run_id=f"waiting-{number}")
        with suppress(RunInterrupted):
            checked_story(local.run(plan, progress, None))

    threads = [threading.Thread(target=lane, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for number, wait in enumerate(waits):
        if not wait.wait(timeout=60):
            raise SystemExit(f"waiting cell {number} did not come to its wait within 60 s")
    return threads


def print_result(name: str, values_s: list[float], of: Callable[[list[float]], float], target_s: float) -> bool:
    reached = of(values_s) <= target_s
    word = "p99" if of is p99 else "median"
    print(
        f"{'ok  ' if reached else 'MISS'}  {name:<34} {word} {of(values_s) * 1e3:8.3f} ms  "
        f"(max {max(values_s) * 1e3:.3f}, n {len(values_s)}, target {target_s * 1e3:g} ms)"
    )
    return reached


def print_timer_lag(story: Story) -> None:
    """How late the lab's timers came meanwhile: where this is large, the machine had other work."""
    noise = story.noise
    print(
        f"      timers late meanwhile: p99 {noise.loop_lag_p99_s * 1e3:.3f} ms, max {noise.loop_lag_max_s * 1e3:.3f} ms"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sends", type=int, default=200)
    parser.add_argument("--waiting", type=int, default=16)
    parser.add_argument("--starts", type=int, default=20)
    given = parser.parse_args(arguments)
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    print(f"{machine()}, local, load {load}")
    with LocalEnvironment(conduct, lanes=given.waiting + 1) as local:
        reached = [
            print_result("call to ready", [to_ready_s(local) for _ in range(given.starts)], median, TARGET_READY_S)
        ]
        alone = local.run(sleeper_plan(given.sends), lambda _: None, None)
        reached.append(print_result("error, alone", errors_s(alone), p99, TARGET_ALONE_S))
        print_timer_lag(alone)
        threads = start_waiting_cells(local, given.waiting)
        beside = local.run(sleeper_plan(given.sends), lambda _: None, None)
        reached.append(
            print_result(f"error, {given.waiting} waiting cells beside", errors_s(beside), p99, TARGET_LOADED_S)
        )
        print_timer_lag(beside)
    for thread in threads:
        thread.join(timeout=10)
    return 0 if all(reached) else 1


if __name__ == "__main__":
    raise SystemExit(main())
