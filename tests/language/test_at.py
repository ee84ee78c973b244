"""Protects the two meanings of `at` and `times` in a step with a fault: of every step, or the fault's own."""

from collections.abc import Callable

import pytest

from harness.language import plans
from harness.plan import PlannedFault, Recurrence, StartCondition

END = "within: 1% + 50ms}"
FAULT = "{inject: blackhole, brokers: all, as: outage}"


def injected(scenario: object) -> PlannedFault:
    (plan, *_) = plans(scenario, environment="sim", seed=7)  # type: ignore[arg-type]
    return next(step for step in plan.steps if isinstance(step, PlannedFault))


def with_step(changed: Callable[..., object], step: str, *more: tuple[str, str]) -> PlannedFault:
    return injected(changed((FAULT, step), *more).load())  # type: ignore[attr-defined]


@pytest.mark.parametrize("side", ["sender", "receiver"])
def test_the_side_of_a_link_is_the_faults_own(changed: Callable[..., object], side: str) -> None:
    found = with_step(changed, f"{{inject: blackhole, at: {side}, after: 1s, as: outage}}")
    assert found.fault.model_dump()["at"] == side
    assert found.when == StartCondition(after_s=1.0)


def test_anything_else_is_a_moment(changed: Callable[..., object]) -> None:
    found = with_step(changed, "{inject: blackhole, at: connect+2s, as: outage}")
    assert found.fault.model_dump()["at"] == "receiver"
    assert found.when == StartCondition(alias="connect", after_s=2.0)


def test_times_is_the_faults_own_unless_the_fault_recurs(changed: Callable[..., object]) -> None:
    own = with_step(changed, "{inject: reset, times: 2, as: outage}")
    assert (own.fault.model_dump()["times"], own.recurs) == (2, None)
    recurring = with_step(changed, "{inject: reset, every: 10s, times: 2, as: outage}")
    assert recurring.fault.model_dump()["times"] is None
    assert recurring.recurs == Recurrence(every_s=10.0, times=2)


def test_a_start_can_be_drawn(changed: Callable[..., object]) -> None:
    found = with_step(changed, "{inject: blackhole, after: {uniform: [500ms, 2s]}, as: outage}")
    assert found.when == StartCondition(after_s=0.5, spread_s=1.5)


def test_a_matrix_sets_it_as_any_parameter(changed: Callable[..., object]) -> None:
    scenario = changed((END, END + "\nmatrix: {outage.at: [receiver, sender]}"))
    found = plans(scenario.load(), environment="sim", seed=7)  # type: ignore[attr-defined]
    sides = {step.fault.model_dump()["at"] for plan in found for step in plan.steps if isinstance(step, PlannedFault)}
    assert sides == {"receiver", "sender"}


def test_a_fault_without_such_a_parameter_takes_it_for_a_moment(changed: Callable[..., object]) -> None:
    problem = changed((FAULT, "{inject: kill, at: sender, as: outage}")).only()  # type: ignore[attr-defined]
    assert (problem.code, "no earlier step is called" in problem.message) == ("unknown-alias", True)


def test_no_step_is_called_as_a_side_is(changed: Callable[..., object]) -> None:
    problems = changed(("do: connect", "do: connect, as: sender")).problems()  # type: ignore[attr-defined]
    assert "reserved-alias" in {problem.code for problem in problems}
