"""Protects what is said of faults that follow one another against the simulation: a step that is refused as certain to
fail has to fail there, and most of what fails there has to be refused."""

from dataclasses import replace
from pathlib import Path
from random import Random

from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.faults import FAULTS
from harness.language import loads, plans
from harness.language.conflicts import conflicts
from harness.plan import (
    PlannedFault,
    PlannedHealing,
    PlannedOperation,
    Recurrence,
    RunPlan,
    StartCondition,
    Step,
    Trigger,
)

SCENARIO = """
format: 1
scenario: together
about: Steps that follow one another, drawn by a test.
client: {profile: sarama, version: 1.27.2, bootstrap: [1, 2, 3]}
settings: {Net.DialTimeout: 300ms, Net.ReadTimeout: 400ms, Producer.Retry.Max: 0, Metadata.Retry.Max: 0}
cluster: {brokers: 3, topics: [{name: orders, replication: 2}, {name: bills, replication: 1, leaders: [2]}]}
steps: [{do: connect}, {do: send}]
expect: [{measure: connect.time_to_end, at_most: 5s}]
"""
SELECTORS = ("all", "others", [1], [2], [3], [1, 2], "controller", "leader(orders/0)", "leader(bills/0)", "random(1)",
             "random(2)", [3, "random(1)"])  # fmt: skip
SELECTING = ("kill", "pause", "restart", "blackhole", "scale_down", "scale_up")
WITH_PARTITION = ("no_leader", "leader_move")
COMPOSITIONS = 250


def drawn_fault(rng: Random, alias: str) -> PlannedFault:
    name = rng.choice((*SELECTING, *SELECTING, *WITH_PARTITION, "unknown_topic"))
    parameters: dict[str, object] = {}
    if name in SELECTING:
        parameters["brokers"] = rng.choice(SELECTORS)
    if name in WITH_PARTITION:
        parameters["partition"] = rng.choice(("orders/0", "bills/0"))
    if name == "leader_move" and rng.random() < 0.5:
        parameters["to"] = rng.randint(1, 3)
    if name == "unknown_topic":
        parameters["topic"] = "orders"
    for_s = rng.choice((None, None, 0.5))
    recurs = Recurrence(every_s=1.0, times=2) if rng.random() < 0.1 else None
    trigger = Trigger(request="produce", broker=1) if recurs is None and rng.random() < 0.15 else None
    when = StartCondition(after_s=rng.choice((0.0, 0.0, 0.2, 2.0)))
    fault = FAULTS[name].model_validate(parameters)
    return PlannedFault(fault=fault, alias=alias, for_s=for_s, recurs=recurs, trigger=trigger, when=when)


def drawn_steps(rng: Random, operations: tuple[Step, ...]) -> tuple[Step, ...]:
    connect, send = operations
    assert isinstance(send, PlannedOperation)
    steps: list[Step] = [connect]
    injected: list[str] = []
    for number in range(rng.randint(2, 4)):
        steps.append(drawn_fault(rng, f"f{number}"))
        injected.append(f"f{number}")
        if rng.random() < 0.4:
            steps.append(replace(send, alias=f"s{number}", give_up_after_s=20.0))
        if rng.random() < 0.4:
            steps.append(PlannedHealing(alias=injected.pop(rng.randrange(len(injected)))))
    return tuple(steps)


def possible_alone(plan: RunPlan) -> bool:
    """Whether every fault is one that the reader of steps lets pass."""
    faults = [step.fault for step in plan.steps if isinstance(step, PlannedFault)]
    try:
        for fault in faults:
            fault.stages(plan.cluster.view())
    except ValueError:
        return False
    return True


def test_what_is_refused_fails_and_most_of_what_fails_is_refused() -> None:
    (base,) = plans(loads(SCENARIO, Path("together.scenario.yaml")), environment="sim", seed=1)
    refused = failed = missed = 0
    with SimEnvironment(conduct) as environment:
        for seed in range(COMPOSITIONS):
            plan = replace(base, steps=drawn_steps(Random(seed), base.steps), seed=seed)
            if not possible_alone(plan):
                continue
            found = [*conflicts(plan.steps, plan.cluster)]
            story = environment.run(plan, lambda _: None, None)
            refused += bool(found)
            failed += story.error is not None
            missed += story.error is not None and not found
            waiting = {step.alias for step in plan.steps if isinstance(step, PlannedFault) and step.trigger is not None}
            useless = waiting - {fault.alias for fault in story.faults if fault.proven}
            if found and story.error is None:  # its request has not come
                assert useless & {plan.steps[one.number].alias for one in found}, (seed, found)
    assert refused > 10
    assert missed < failed / 2, (refused, failed, missed)
