"""Protects `met_by`: the operations during which a fault met the client's own traffic, and no others."""

from typing import Any

import pytest

from harness.faults import FAULTS
from harness.plan import (
    ClusterShape,
    PlannedFault,
    PlannedHealing,
    PlannedOperation,
    ResolvedValue,
    StartCondition,
    Topic,
)

CONNECT = PlannedOperation(operation="connect", alias="connect", give_up_after_s=60.0)
CLOSE = PlannedOperation(operation="close", alias="close", give_up_after_s=60.0)
TWO_BROKERS = ClusterShape(brokers=2, topics=(Topic(name="orders"),))


def send(alias: str, **more: Any) -> PlannedOperation:
    return PlannedOperation(operation="send", alias=alias, give_up_after_s=60.0, **more)


def inject(name: str, **parameters: Any) -> PlannedFault:
    return PlannedFault(fault=FAULTS[name].model_validate(parameters), alias="fault")


def heal(after_s: float = 1.0) -> PlannedHealing:
    return PlannedHealing(alias="fault", when=StartCondition(after_s=after_s))


SLOW = inject("latency", delay="100ms")


@pytest.mark.parametrize(
    ("steps", "met_by"),
    [
        ((CONNECT, send("before"), SLOW, send("probe")), ("probe",)),
        ((CONNECT, inject("blackhole"), send("lost"), heal(), send("after")), ("lost",)),
        ((CONNECT, inject("blackhole"), send("lost"), send("too")), ("lost", "too")),
        ((CONNECT, send("before"), inject("restart"), send("after")), ("after",)),
        ((CONNECT, send("before"), inject("kill"), heal()), ()),
        ((CONNECT, send("before"), inject("blackhole"), CLOSE, heal(0.1)), ("close",)),
        ((CONNECT, inject("error_answer", code="NOT_LEADER_OR_FOLLOWER"), send("probe"), heal(), send("after")),
         ("probe",)),
    ],
)  # fmt: skip
def test_a_fault_is_met_by_what_is_under_way_when_it_meets_the_clients_traffic(
    sim: Any, steps: tuple[Any, ...], met_by: tuple[str, ...]
) -> None:
    story = sim.run(sim.plan(*steps, cluster=TWO_BROKERS))
    (fault,) = story.faults
    assert (fault.proven, fault.met_by) == (True, met_by), fault.finding


@pytest.mark.parametrize(
    "steps",
    [
        (CONNECT, send("before"), SLOW),
        (CONNECT, send("before"), SLOW, heal(), send("after")),
        (CONNECT, inject("latency", delay="100ms", brokers=[2]), send("probe")),
    ],
)
def test_a_delay_that_nothing_of_the_clients_meets_is_unproven(sim: Any, steps: tuple[Any, ...]) -> None:
    (fault,) = sim.run(sim.plan(*steps, cluster=TWO_BROKERS)).faults
    assert (fault.proven, fault.met_by) == (False, None)


def test_nobody_looks_what_an_unproven_fault_met(sim: Any) -> None:
    (fault,) = sim.run(sim.plan(CONNECT, inject("blackhole", brokers=[2]), cluster=TWO_BROKERS)).faults
    assert (fault.proven, fault.met_by) == (False, None)


UNANSWERED = ResolvedValue(name="Producer.RequiredAcks", text="NoResponse", unit="text")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("blackhole", {}),
        ("latency", {"delay": "300ms"}),
        ("latency", {"delay": "300ms", "via": "packets"}),
        ("pause", {}),
        ("silence", {}),
        ("timeout", {}),
    ],
)
def test_what_a_send_without_acknowledgement_leaves_on_its_way_meets_a_fault_that_the_end_of_the_run_heals(
    sim: Any, name: str, parameters: dict[str, Any]
) -> None:
    plan = sim.plan(CONNECT, send("before"), inject(name, **parameters), send("probe"), settings=(UNANSWERED,))
    (fault,) = sim.run(plan).faults
    assert (fault.proven, fault.met_by) == (True, ("probe",)), fault.finding


def test_a_fault_that_nothing_meets_is_healed_soon(sim: Any) -> None:
    (fault,) = sim.run(sim.plan(CONNECT, inject("blackhole", brokers=[2]), send("probe"), cluster=TWO_BROKERS)).faults
    assert not fault.proven
    assert fault.healed_ns < 1_000_000_000
