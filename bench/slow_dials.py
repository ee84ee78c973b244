"""How exactly a slow dial is as slow as declared, alone and beside cells that wait.

    .venv/bin/python bench/slow_dials.py [--dials 200] [--delays 0.005 0.05 0.7 1.7 2.5 6] [--waiting 0 16]

A subject of this machine's own (bench/subjects/dialler.py) dials 20 times at once, again and again, while `slow_dial`
is in force. Prints by how much its dials took longer than declared; exits with 1 where a target is missed.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bench.lab_error import BASE, checked_story, print_result, print_timer_lag, start_waiting_cells
from bench.subjects.dialler import AT_ONCE
from harness.conductor import conduct
from harness.environments.local.environment import LocalEnvironment
from harness.faults import FAULTS
from harness.plan import ClientPlan, PlannedFault, PlannedOperation, RunPlan
from harness.stats import median, p99
from harness.story import Story
from harness.suite.machine import machine

TARGET_MEDIAN_S, TARGET_ALONE_S, TARGET_LOADED_S = 0.001, 0.003, 0.010
"""Targets: median alone, p99 alone, p99 beside waiting cells."""
DIALLER = Path(__file__).parent / "subjects" / "dialler.py"


def plan(delay_s: float, dials: int) -> RunPlan:
    client = ClientPlan(name="dialler", version="1", argv=(sys.executable, "-S", str(DIALLER)), bootstrap=(1,))
    fault = FAULTS["slow_dial"].model_validate({"delay": f"{round(delay_s * 1000)}ms"})
    rounds = range(-(-dials // AT_ONCE))
    sends = (PlannedOperation(operation="send", alias=f"s{number}", expect="ok") for number in rounds)
    return replace(BASE, client=client, steps=(PlannedFault(fault=fault, alias="slow"), *sends))


def late_s(story: Story, delay_s: float) -> list[float]:
    """By how much each dial took longer than it had to."""
    checked_story(story)
    assert all(fault.proven for fault in story.faults), [fault.finding for fault in story.faults]
    found = [json.loads(str(e.fields["text"])) for e in story.events if e.fields.get("purpose") == "dialled"]
    late = [taken_ns / 1e9 - delay_s for taken in found for taken_ns in taken]
    assert min(late) >= 0, f"a dial was early by {-min(late):.6f} s"
    return late


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dials", type=int, default=200)
    parser.add_argument("--delays", type=float, nargs="+", default=[0.005, 0.05, 0.7, 1.7, 2.5, 6.0], metavar="SECONDS")
    parser.add_argument("--waiting", type=int, nargs="+", default=[0, 16], metavar="CELLS")
    given = parser.parse_args(arguments)
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    print(f"{machine()}, local, load {load}")
    reached = []
    for waiting in given.waiting:
        with LocalEnvironment(conduct, lanes=waiting + 1) as local, ExitStack() as ended:
            for thread in start_waiting_cells(local, waiting):
                ended.callback(thread.join, timeout=10)
            ended.callback(local.interrupt)
            for delay_s in given.delays:
                story = local.run(plan(delay_s, given.dials), lambda _: None, None)
                late, name = late_s(story, delay_s), f"{delay_s:g} s beside {waiting} cells"
                reached.append(print_result(name, late, median, TARGET_MEDIAN_S if not waiting else TARGET_LOADED_S))
                reached.append(print_result(name, late, p99, TARGET_LOADED_S if waiting else TARGET_ALONE_S))
                print_timer_lag(story)
    return 0 if all(reached) else 1


if __name__ == "__main__":
    raise SystemExit(main())
