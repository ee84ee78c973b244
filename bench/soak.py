"""Compositions of faults, drawn from a seed: none hangs, none leaks, and no fault's verdict about its effect is wrong.

    .venv/bin/python bench/soak.py [--env sim] [--number 2000] [--seed 7] [--cells 4]

Each composition has two to four faults, overlapping or one after another, that are healed by time, by a step or by the
end of the run, and a control: a fault that nothing meets. Held against each run:

- it ends without an error of the lab, every fault is healed and every operation has ended;
- the control is unproven;
- in the simulation a fault that is unproven has changed nothing, unless it delayed bytes by less than would prove it,
  or kept the request that triggers it waiting: with the control in its place, injected when the fault was confirmed,
  every operation ends as before and takes as long;
- on real sockets the operations end as in the simulation, where no chance is in play; or as they end there when faults
  are healed a moment earlier or later. What ends otherwise is run once more: worlds that differ do so every time, a
  race that the machine decides does not.

Afterwards the process has no more descriptors, threads, children, tasks and sockets than before. Prints what was wrong,
with the seed of the composition; exits with 1 where anything was.
"""

import argparse
import asyncio
import gc
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from harness.conductor import conduct
from harness.environments.local.environment import LocalEnvironment
from harness.environments.sim.environment import SimEnvironment
from harness.environments.sim.socket import TcpSocket
from harness.environments.world import Environment
from harness.faults import FAULTS
from harness.faults.base import FaultModel
from harness.language import plans
from harness.language.loader import loads
from harness.levers import DelaySeen
from harness.plan import PlannedFault, RunPlan, Step
from harness.story import FaultStory, Outcome, Story

PATIENCE_S = 60.0
SAME_S = 0.02
"""What a fault changes by less counts as no effect: it may be healed just after something has met it."""
SHORTEST_S = {DelaySeen.name: SAME_S}
"""A shorter delay is no proof, since a busy machine makes it, too. It may decide which of two events comes first."""
MOMENT_S = 0.001
"""Traffic that comes to a fault at the very nanosecond of its healing, as only virtual time has it, does not so much
later."""
EDGES_S = (0.0, -0.03, 0.03, -0.06, 0.06, -0.12, 0.12)
"""By how much a fault may be healed later, or an operation come earlier, on real sockets."""
CONTROL = {"api": "init_producer_id", "code": "REQUEST_TIMED_OUT", "brokers": [1]}
"""Of `error_answer`: nobody here asks for a producer id."""

CERTAIN: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("accept_queue_full", {}),
    ("bad_frame", {"api": "produce", "damage": "cut"}),
    ("bad_frame", {"api": "produce", "damage": "garbage", "then": "reset"}),
    ("bandwidth", {"rate": "2KB/s", "flows": ["to_broker"]}),
    ("blackhole", {}),
    ("blackhole", {"flows": ["to_client"]}),
    ("correlation_mismatch", {"api": "produce"}),
    ("drop", {"only": "syn"}),
    ("error_answer", {"code": "NOT_LEADER_OR_FOLLOWER"}),
    ("half_open", {}),
    ("half_open", {"then": "reset"}),
    ("kill", {"election": "0s"}),
    ("latency", {"delay": "80ms"}),
    ("latency", {"delay": "40ms", "via": "packets"}),
    ("leader_move", {"partition": "orders/0"}),
    ("limit_data", {"bytes": "40B"}),
    ("no_leader", {"partition": "orders/0"}),
    ("old_broker", {"release": "kafka-0.11"}),
    ("pause", {}),
    ("refuse", {}),
    ("refuse", {"by": "firewall"}),
    ("reset", {"upon": "request"}),
    ("reset", {"upon": "answer", "bytes": "10B"}),
    ("reset_peer", {"timeout": "100ms"}),
    ("restart", {}),
    ("scale_down", {"brokers": [1], "then": "refuse"}),
    ("scale_down", {"brokers": [1], "then": "blackhole", "first": "ports", "election": "300ms"}),
    ("scale_up", {"brokers": [3]}),
    ("silence", {"api": "produce"}),
    ("slicer", {"average_size": "32B", "delay": "5ms"}),
    ("slow_answer", {"delay": "150ms"}),
    ("slow_broker", {"delay": "150ms"}),
    ("slow_close", {"delay": "200ms"}),
    ("slow_dial", {"delay": "200ms"}),
    ("stale_metadata", {}),
    ("timeout", {"timeout": "0s"}),
    ("unknown_topic", {"topic": "orders"}),
)
BY_CHANCE: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("drop", {"chance": "30%"}),
    ("duplicate", {"chance": "50%"}),
    ("error_answer", {"code": "NOT_LEADER_OR_FOLLOWER", "chance": 0.5}),
    ("latency", {"delay": "80ms", "jitter": "40ms"}),
    ("loss", {"chance": "20%"}),
    ("reorder", {"chance": "50%", "delay": "30ms"}),
    ("timeout", {"timeout": "100ms", "toxicity": 0.5}),
    ("slow_dial", {"delay": "200ms", "jitter": "100ms"}),
)
TOXICS = ("bandwidth", "latency", "limit_data", "reset", "reset_peer", "slicer", "slow_close", "timeout")
"""Where one comes or goes, Toxiproxy runs the others of a connection anew, and their waits with them: that is another
effect than a toxic's own, and its proof does not count it. Nor does it count a connection that a bad frame ends."""
REPLICATED = ("leader_move", "scale_down", "scale_up")
"""Somebody else has to be there to lead."""
CLUSTER = (*REPLICATED, "no_leader", "unknown_topic")
"""No two in one run: one may take away what the other changes, and `validate` refuses them where that is certain."""
LOSING = ("kill", "pause", "restart")
"""At most one in a run, on one broker: two might leave no broker that answers."""


def composition(seed: int, *, chance: bool) -> str:
    """A scenario."""
    rng = Random(seed)
    brokers = rng.choice((1, 3))
    steps: list[dict[str, Any]] = [{"do": "connect"}]
    if rng.random() < 0.7:
        steps.append({"do": "send", "as": "warm_up"})
    steps.append({"inject": "error_answer", "as": "control", **CONTROL})
    steps += _faults(rng, brokers, chance=chance)
    settings = {
        "Net.DialTimeout": "300ms", "Net.ReadTimeout": "400ms", "Net.WriteTimeout": "400ms",
        "Producer.Retry.Max": rng.choice((0, 1, 3)), "Producer.RequiredAcks": "WaitForAll",
        "Metadata.Retry.Max": 1, "Metadata.Retry.Backoff": "100ms",
    }  # fmt: skip
    client = {"profile": "sarama", "version": rng.choice(("1.27.2", "1.60.1")), "bootstrap": [1]}
    cluster = {"brokers": brokers, "topics": [{"name": "orders", "replication": brokers}]}
    expect = [{"measure": "connect.outcome", "equals": "ok"}]
    whole = {
        "format": 1, "scenario": f"soak-{seed}", "about": "Drawn by bench/soak.py.", "client": client,
        "settings": settings, "cluster": cluster, "steps": steps, "expect": expect, "integrity": rng.random() < 0.1,
    }  # fmt: skip
    return json.dumps(whole)


def _faults(rng: Random, brokers: int, *, chance: bool) -> Iterator[dict[str, Any]]:
    known = [one for one in ((*CERTAIN, *BY_CHANCE) if chance else CERTAIN) if brokers > 1 or one[0] not in REPLICATED]
    for number in range(rng.randint(2, 4)):
        name, parameters = rng.choice(known)
        for alone in (LOSING, CLUSTER):
            known = [one for one in known if not (name in alone and one[0] in alone)]
        where = [rng.randint(1, brokers)] if name in LOSING else rng.choice(("all", [1]))
        broad = {"brokers": where} if "brokers" in FAULTS[name].model_fields else {}
        step: dict[str, Any] = {"inject": name, "as": f"f{number}", **broad, **parameters}
        ends = rng.choice(("for", "heal", "end"))
        if ends == "for":
            step["for"] = f"{rng.randint(100, 900)}ms"
        if rng.random() < 0.2:
            step["trigger"] = {"request": "produce", "broker": 1, "nth": rng.randint(1, 2)}
        yield step
        for each in range(rng.randint(1, 2)):
            yield {"do": "send", "as": f"s{number}_{each}", "give_up_after": f"{PATIENCE_S:g}s"}
        if ends == "heal":
            yield {"heal": f"f{number}"}


def planned(seed: int, environment: str, *, chance: bool) -> RunPlan:
    scenario = loads(composition(seed, chance=chance), Path(f"soak-{seed}.scenario.yaml"))
    return plans(scenario, environment=environment, seed=seed)[0]


def wrong(plan: RunPlan, story: Story) -> Iterator[str]:
    """What is wrong with any run, wherever it was made."""
    if story.error is not None:
        yield f"{story.error.code}: {story.error.text}"
    for operation in story.operations:
        if operation.outcome is Outcome.CENSORED:
            yield f"{operation.alias} hangs"
    for fault in story.faults:
        if fault.healed_ns is None and "never injected" not in fault.finding:
            yield f"{fault.alias} ({fault.fault}) was not healed"
        if fault.alias == "control" and fault.proven:
            yield f"the control is proven: {fault.finding}"
    if len(story.faults) != sum(isinstance(step, PlannedFault) for step in plan.steps):
        yield "a fault has no story"


def effects_denied(plan: RunPlan, story: Story, again: Callable[[RunPlan], Story]) -> Iterator[str]:
    """Unproven faults without which the client fares otherwise."""
    neutral = FAULTS["error_answer"].model_validate(CONTROL)
    triggered = {step.alias for step in plan.steps if isinstance(step, PlannedFault) and step.trigger is not None}
    for fault in story.faults:
        if (
            fault.proven
            or fault.alias == "control"
            or fault.fault == "scale_up"
            or 0 < fault.count < SHORTEST_S.get(fault.proof, 0)
            or (fault.alias in triggered and _took_s(fault) > SAME_S)  # for so long its request is held
        ):
            continue
        others = [other.fault for other in story.faults if other is not fault]
        if fault.fault in TOXICS and any(name in (*TOXICS, "bad_frame") for name in others):
            continue
        without = (_in_place_of(step, fault, neutral) for step in plan.steps)
        other = again(replace(plan, steps=tuple(without)))
        if other.error is not None:
            yield f"without {fault.alias}: {other.error.code}: {other.error.text}"
            return
        for one, two in zip(fared(story), fared(other), strict=True):
            if one[:2] != two[:2] or abs(one[2] - two[2]) > SAME_S:
                yield f"{fault.alias} ({fault.fault}) is unproven ({fault.finding}), but {one} is {two} without it"
                break


def _in_place_of(step: Step, fault: FaultStory, neutral: FaultModel) -> Step:
    """The step, or where it is the fault's own one that injects `neutral` when that was confirmed: what comes behind a
    restart comes later by the time that it takes."""
    if not isinstance(step, PlannedFault) or step.alias != fault.alias:
        return step
    later_s = 0.0 if step.trigger is not None else _took_s(fault)
    return replace(step, fault=neutral, when=replace(step.when, after_s=step.when.after_s + later_s))


def _took_s(fault: FaultStory) -> float:
    return (fault.confirmed_ns - fault.began_ns) / 1e9


def fared(story: Story) -> list[tuple[str, str, float]]:
    """How each operation ended, and after how many seconds."""
    return [(o.alias, str(o.outcome), (o.ended_ns - o.started_ns) / 1e9) for o in story.operations]


def ended(story: Story) -> list[tuple[str, str]]:
    """How each operation ended."""
    return [(alias, outcome) for alias, outcome, _ in fared(story)]


def held() -> Counter[str]:
    """What this process holds."""
    gc.collect()
    found = Counter(kind.__name__ for one in gc.get_objects() if (kind := type(one)) in (asyncio.Task, TcpSocket))
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    found["descriptors"] = sum(1 for _ in Path("/proc/self/fd").iterdir())
    found["threads"] = threading.active_count()
    found["children"] = len(children.read_text().split()) if children.exists() else 0
    return found


def soak(seeds: Sequence[int], environment: Environment, lanes: int) -> list[str]:
    """What was wrong, each with the seed of its composition."""
    real = not environment.virtual_time
    sim = SimEnvironment(conduct)

    def run(where: Environment, plan: RunPlan) -> Story:
        return where.run(plan, lambda _: None, None)

    def one(seed: int) -> list[str]:
        plan = planned(seed, environment.name, chance=not real)
        story = run(environment, plan)
        found = [*wrong(plan, story)]
        if real:
            simulated = planned(seed, "sim", chance=False)
            theirs = [ended(run(sim, _lasting(simulated, by_s))) for by_s in EDGES_S]
            if ended(story) not in theirs and ended(run(environment, plan)) not in theirs:
                found.append(f"ended {ended(story)}, in the simulation {theirs[0]}")
        elif story.error is None and not any(named in BY_CHANCE for named in _drawn(plan)):
            found += effects_denied(plan, story, lambda other: run(sim, other))
            longer = _lasting(plan, MOMENT_S)
            if found and not any(effects_denied(longer, run(sim, longer), lambda other: run(sim, other))):
                found = [*wrong(plan, story)]
        return [f"seed {seed}: {text}" for text in found]

    with environment:
        one(seeds[0])  # what is made once
        before = held()
        with ThreadPoolExecutor(lanes) as pool:
            found = [text for texts in pool.map(one, seeds) for text in texts]
        more = held() - before
    return found + [f"{number} {what} more than before" for what, number in more.items()]


def _lasting(plan: RunPlan, by_s: float) -> RunPlan:
    """The plan with faults that heal so much later."""
    longer = (
        replace(step, for_s=step.for_s + by_s) if isinstance(step, PlannedFault) and step.for_s is not None else step
        for step in plan.steps
    )
    return replace(plan, steps=tuple(longer))


def _drawn(plan: RunPlan) -> Iterator[tuple[str, Mapping[str, Any]]]:
    faults = [step.fault for step in plan.steps if isinstance(step, PlannedFault)]
    for name, parameters in BY_CHANCE:
        if FAULTS[name].model_validate(parameters) in [fault.model_copy(update={"brokers": "all"}) for fault in faults]:
            yield name, parameters


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", choices=("sim", "local"), default="sim")
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--cells", type=int, default=4)
    given = parser.parse_args(arguments)
    environment = SimEnvironment(conduct) if given.env == "sim" else LocalEnvironment(conduct, lanes=given.cells)
    seeds = [given.seed * 1_000_000 + number for number in range(given.number)]
    found = soak(seeds, environment, 1 if given.env == "sim" else given.cells)
    for text in found:
        print(text)
    print(f"{given.env}: {given.number} compositions, {len(found)} times something was wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
