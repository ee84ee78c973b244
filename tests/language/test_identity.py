"""Protects results that lie on disks: what is added to plans, faults and settings later renames none of their runs.

`identities.json` pins 70 runs of the bundled scenarios. Only an edited scenario changes its own lines there.
"""

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest
from bundled_scenarios import bundled_scenarios

from harness.faults.blackhole import Blackhole
from harness.language import identity, plans
from harness.plan import ClientPlan, PlannedFault, ResolvedValue, RunPlan

PINNED = json.loads(Path(__file__).with_name("identities.json").read_text())


def bundled(scenario: str, environment: str) -> tuple[RunPlan, ...]:
    return plans(bundled_scenarios()[scenario], environment=environment, seed=1)


@pytest.fixture
def plan() -> RunPlan:
    return bundled("sarama-blackhole-established", "local")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class WiderClient(ClientPlan):
    resolver: str = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class WiderPlan(RunPlan):
    load_per_s: float = 0.0


class WiderBlackhole(Blackhole):
    chance: float = 1.0


def widened(kind: type, value: object, **more: object) -> object:
    return kind(**{one.name: getattr(value, one.name) for one in fields(value)}, **more)  # type: ignore[arg-type]


def test_seventy_runs_of_the_bundled_scenarios_keep_their_ids_and_seeds() -> None:
    assert len(PINNED) == 70
    found = [
        [environment, scenario, number, one.run_id, one.seed]
        for environment, scenario, number, _, _ in PINNED
        for one in [bundled(scenario, environment)[number]]
    ]
    assert found == PINNED


def test_a_new_field_counts_once_it_differs_from_its_default(plan: RunPlan) -> None:
    assert identity(widened(WiderPlan, plan)) == plan.run_id  # type: ignore[arg-type]
    assert identity(widened(WiderPlan, plan, load_per_s=10.0)) != plan.run_id  # type: ignore[arg-type]
    client = widened(WiderClient, plan.client)
    assert identity(replace(plan, client=client)) == plan.run_id  # type: ignore[arg-type]
    other = widened(WiderClient, plan.client, resolver="own")
    assert identity(replace(plan, client=other)) != plan.run_id  # type: ignore[arg-type]


@pytest.mark.parametrize("scenario", ["sarama-blackhole-established", "kafka-go-blackhole-established"])
def test_a_new_setting_counts_once_it_is_given(scenario: str) -> None:
    plan = bundled(scenario, "local")[0]
    new = ResolvedValue(name="Net.Proxy.Enable", text="false", unit="bool", value=0.0)
    default = replace(plan, settings=(*plan.settings, new))
    assert identity(default) == plan.run_id
    assert identity(replace(default, given_settings=(*plan.given_settings, new.name))) != plan.run_id


def test_a_new_parameter_of_a_fault_counts_once_it_differs_from_its_default(plan: RunPlan) -> None:
    def with_fault(fault: Blackhole) -> RunPlan:
        steps = (replace(step, fault=fault) if isinstance(step, PlannedFault) else step for step in plan.steps)
        return replace(plan, steps=tuple(steps))

    assert identity(with_fault(WiderBlackhole())) == plan.run_id
    assert identity(with_fault(WiderBlackhole(chance=0.5))) != plan.run_id
