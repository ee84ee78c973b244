"""Draws scenarios by chance for `make fidelity-random`: shapes, settings, faults and moments not chosen by hand.

What is drawn is tried in the simulation first: a moment of healing or a delay is kept only where nothing turns on it
within `MARGIN_S`, no retransmission of the kernel and no deadline of the client: there, two outcomes would be right.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from ruamel.yaml import YAML

from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.judging import judge
from harness.language import loads, plans
from harness.records.run import RunRecord
from harness.suite.machine import wall_clock
from harness.suite.recording import run_record

MARGIN_S = 0.150
MAX_SEND_S = 12.0
"""A send that takes longer tells no more, and fifty of them take an hour."""
SEEDS_PER_SCENARIO = 8
"""So many seeds are simulated of each draw: with several seeds of the client's own, order is a matter of chance."""
GIVE_UP_AFTER_S = 40
VERSIONS = ("1.27.2", "1.60.1")

Scenario = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault: its parameters by chance, whether it strikes before the client is there, and its knob.

    `knob` is the key of a time at which the fault ends or that it makes: `for` or `delay`.
    """

    fault: str
    parameters: Callable[[Random], dict[str, Any]] = lambda _: {}
    at_start: bool = False
    knob: str | None = None
    leader_alone: bool = True
    """Whether it may strike the leader alone."""


KINDS = (
    FaultKind("blackhole"),
    FaultKind("blackhole", lambda rng: {"for": _time(rng, 0.2, 2.5)}, knob="for"),
    FaultKind("blackhole", lambda rng: {"for": _time(rng, 0.2, 2.5)}, knob="for", leader_alone=False),
    FaultKind("blackhole", lambda rng: {"flows": [rng.choice(["to_broker", "to_client"])]}),
    FaultKind("blackhole", at_start=True, leader_alone=False),
    FaultKind("refuse"),
    FaultKind("refuse", lambda rng: {"by": rng.choice(["listener", "firewall"])}, at_start=True, leader_alone=False),
    FaultKind("refuse", lambda rng: {"for": _time(rng, 0.2, 1.5)}, knob="for"),
    FaultKind("kill"),
    FaultKind("pause", lambda rng: {"for": _time(rng, 0.3, 2.5)}, knob="for"),
    FaultKind("silence"),
    FaultKind("reset", lambda rng: {"upon": rng.choice(["request", "answer"]), "times": 1}),
    FaultKind("slow_answer", lambda rng: {"delay": _time(rng, 0.1, 1.2)}, knob="delay"),
    FaultKind("latency", lambda rng: {"delay": _time(rng, 0.05, 0.4)}, knob="delay", leader_alone=False),
)


def draw(seed: int, number: int) -> Iterator[tuple[str, str]]:
    """So many scenarios: name and text of each, the kinds of faults in turn. The same seed draws the same."""
    rng, world = Random(seed), SimEnvironment(conduct)
    for place in range(1, number + 1):
        kind = KINDS[(place - 1) % len(KINDS)]
        while True:
            scenario = _scenario(rng, kind, f"random-{place:02d}-{kind.fault.replace('_', '-')}")
            if _is_stable(world, scenario, kind.knob):
                break
        yield scenario["scenario"], _text(scenario)


def _scenario(rng: Random, kind: FaultKind, name: str) -> Scenario:
    brokers = rng.choice([1, 1, 2, 3])
    bootstrap = sorted(rng.sample(range(1, brokers + 1), rng.randint(1, brokers)))
    leader = rng.randint(1, brokers)
    struck: Any = "all" if brokers == 1 or not kind.leader_alone or rng.random() < 0.5 else [leader]
    inject = {"inject": kind.fault, "brokers": struck, "as": "outage", **kind.parameters(rng)}
    probe = {"give_up_after": f"{GIVE_UP_AFTER_S}s", "as": "probe"}
    before = [{"do": "connect", "expect": "ok"}, {"do": "send", "as": "warm_up", "expect": "acknowledged"}]
    steps = [inject, {"do": "connect", **probe}] if kind.at_start else [*before, inject, {"do": "send", **probe}]
    return {
        "format": 1,
        "scenario": name,
        "about": "Drawn by chance.",
        "client": {"profile": "sarama", "version": rng.choice(VERSIONS), "bootstrap": bootstrap},
        "settings": {
            "Net.DialTimeout": _time(rng, 0.3, 1.5),
            "Net.ReadTimeout": _time(rng, 0.4, 2.0),
            "Net.WriteTimeout": "3s",
            "Producer.RequiredAcks": "WaitForAll",
            "Producer.Retry.Max": rng.randint(0, 3),
            "Producer.Retry.Backoff": _time(rng, 0.05, 0.4),
            "Metadata.Retry.Max": rng.randint(0, 3),
            "Metadata.Retry.Backoff": _time(rng, 0.05, 0.4),
        },
        "cluster": {"brokers": brokers, "topics": [{"name": "orders", "leaders": [leader]}]},
        "steps": steps,
        "expect": [
            {
                "measure": "probe.time_to_end",
                "at_most": f"{GIVE_UP_AFTER_S}s",
                "name": "ends",
                "source": "drawn by chance",
            },
            {"measure": "probe.dials", "claim": 0, "name": "dials", "source": "drawn by chance"},
        ],
    }


def _is_stable(world: SimEnvironment, scenario: Scenario, knob: str | None) -> bool:
    """Whether it ends in time, tests something, and does not turn on its knob."""
    here = _simulate(world, scenario)
    if here is None or max(time_s for _, _, time_s in here) > MAX_SEND_S:
        return False
    if knob is None:
        return True
    for by_s in (-MARGIN_S, MARGIN_S):
        there = _simulate(world, _with_knob_shifted(scenario, knob, by_s))
        if there is None or [run[:2] for run in here] != [run[:2] for run in there]:
            return False
        # Healed earlier or later, a send ends when it did, or by as much earlier or later; a delay may count twice.
        if knob == "for" and any(abs(a[2] - b[2]) > MARGIN_S + 0.02 for a, b in zip(here, there, strict=True)):
            return False
    return True


def _with_knob_shifted(scenario: Scenario, knob: str, by_s: float) -> Scenario:
    """The scenario with its knob turned, but not to nothing."""
    steps = [
        {**step, knob: f"{max(1, round(_seconds(step[knob]) * 1000 + by_s * 1000))}ms"} if knob in step else step
        for step in scenario["steps"]
    ]
    return {**scenario, "steps": steps}


def _simulate(world: SimEnvironment, scenario: Scenario) -> list[tuple[str, float, float]] | None:
    """How the probe ends, after how many dials and seconds, for each of the seeds; None where a run tests nothing."""
    loaded = loads(_text(scenario), Path(f"{scenario['scenario']}.scenario.yaml"))
    found = []
    for plan in plans(loaded, environment="sim", seed=1, repeat=SEEDS_PER_SCENARIO):
        story = world.run(plan, lambda _: None, None)
        run = run_record(plan, story, judge(plan, story), started_at=wall_clock(), duration_s=0.0)
        seconds, dials = (_value(run, f"probe.{name}") for name in ("time_to_end", "dials"))
        if run.verdict != "pass" or seconds is None or dials is None:
            return None
        found.append((next(_probe_outcome(run)), dials, seconds))
    return found


def _probe_outcome(run: RunRecord) -> Iterator[str]:
    return (one.error_class or one.outcome for one in run.operations if one.alias == "probe")


def _value(run: RunRecord, name: str) -> float | None:
    return next((measure.value for measure in run.measures if measure.name == name), None)


def _time(rng: Random, low_s: float, high_s: float) -> str:
    """In steps of 10 ms."""
    return f"{rng.randint(round(low_s * 100), round(high_s * 100)) * 10}ms"


def _seconds(text: str) -> float:
    return int(text.removesuffix("ms")) / 1000


def _text(scenario: Scenario) -> str:
    yaml, out = YAML(typ="safe", pure=True), io.StringIO()
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.dump(scenario, out)
    return out.getvalue()
