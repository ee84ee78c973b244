"""Protects faults that a request triggers: that request meets the fault, none before does, and none is left held."""

from dataclasses import replace
from typing import Any

from harness.environments.broker_signals import RESTART_S
from harness.faults import FAULTS
from harness.plan import PlannedFault, PlannedHealing, PlannedOperation, ResolvedValue, StartCondition, Trigger
from harness.story import Outcome

PRODUCE = Trigger(request="produce", broker=1, nth=3)
CONNECT = PlannedOperation(operation="connect", alias="connect")


def send(alias: str, **more: Any) -> PlannedOperation:
    return PlannedOperation(operation="send", alias=alias, give_up_after_s=60.0, **more)


def fault(name: str = "blackhole", trigger: Trigger = PRODUCE, alias: str = "outage", **parameters: Any) -> Any:
    for_s = parameters.pop("for_s", None)
    return PlannedFault(fault=FAULTS[name].model_validate(parameters), alias=alias, trigger=trigger, for_s=for_s)


def test_the_nth_request_meets_the_fault_and_those_before_do_not(sim: Any) -> None:
    story = sim.run(sim.plan(CONNECT, fault(for_s=1.0), send("one"), send("two"), send("three"), send("four")))
    one, two, three, four = story.operations[1:]
    assert story.error is None
    for before in (one, two):
        assert before.outcome is Outcome.OK
        assert before.ended_ns - before.started_ns < 10_000_000
    (outage,) = story.faults
    assert outage.proven
    assert three.started_ns <= outage.began_ns <= three.started_ns + 10_000_000
    assert outage.met_by == ("three",)
    assert three.ended_ns >= outage.healing_ns
    assert four.outcome is Outcome.OK


def test_the_request_is_carried_out_under_the_fault(sim: Any) -> None:
    """Its broker has it: with the answers dropped it is written, and its client does not learn of it."""
    story = sim.run(sim.plan(CONNECT, fault(flows=["to_client"], for_s=0.1), send("one"), send("two"), send("three")))
    assert story.error is None
    assert [each.outcome for each in story.operations[1:]] == [Outcome.OK] * 3


def test_a_fault_of_requests_meets_the_request_that_triggers_it(sim: Any) -> None:
    answer = fault("error_answer", code="INVALID_REQUIRED_ACKS")
    story = sim.run(sim.plan(CONNECT, answer, send("one"), send("two"), send("three")))
    assert [each.outcome for each in story.operations[1:]] == [Outcome.OK, Outcome.OK, Outcome.FAILED]
    assert story.faults[0].proven


def test_a_broker_may_be_killed_with_the_request_in_its_hands(sim: Any) -> None:
    story = sim.run(sim.plan(CONNECT, fault("kill", for_s=0.5), send("one"), send("two"), send("three"), send("four")))
    assert story.error is None
    assert story.faults[0].proven
    assert story.operations[-1].outcome is Outcome.OK


def test_a_request_that_never_comes_leaves_the_fault_unproven(sim: Any) -> None:
    story = sim.run(sim.plan(CONNECT, fault(), send("one"), send("two")))
    assert story.error is None
    assert [each.outcome for each in story.operations[1:]] == [Outcome.OK, Outcome.OK]
    (outage,) = story.faults
    assert not outage.proven
    assert "never injected" in outage.finding


def test_a_fault_that_is_healed_before_its_request_comes_is_never_injected(sim: Any) -> None:
    healing = PlannedHealing(alias="outage")
    story = sim.run(sim.plan(CONNECT, fault(), send("one"), healing, send("two"), send("three"), send("four")))
    assert [each.outcome for each in story.operations[1:]] == [Outcome.OK] * 4
    assert not story.faults[0].proven


def test_a_fault_that_is_healed_while_it_is_injected_is_injected_first(sim: Any) -> None:
    """The client is cut off at once, and its send fails, while the broker is still being restarted."""
    restart = fault("restart", trigger=Trigger(request="produce", broker=1))
    no_retry = (ResolvedValue(name="Producer.Retry.Max", text="0", unit="count", value=0.0),)
    for behind in ([PlannedHealing(alias="outage"), send("two")], []):
        story = sim.run(sim.plan(CONNECT, restart, send("one"), *behind, settings=no_retry))
        assert story.error is None
        (outage,) = story.faults
        assert outage.proven, outage.finding
        assert outage.confirmed_ns - outage.began_ns >= RESTART_S * 1e9
        one, *later = story.operations[1:]
        assert (one.outcome, [each.outcome for each in later]) == (Outcome.FAILED, [Outcome.OK] * len(behind[1:]))


def test_a_fault_that_is_healed_between_its_levers_waits_for_no_more_of_them(sim: Any) -> None:
    leaving = fault("scale_down", brokers=[2], election="9s", trigger=Trigger(request="produce", broker=1))
    healing = PlannedHealing(alias="outage", when=StartCondition(after_s=1.0))
    plan = sim.plan(CONNECT, leaving, send("one", background=True), healing, send("two"))
    story = sim.run(replace(plan, cluster=replace(plan.cluster, brokers=2)))
    assert story.error is None
    (outage,) = story.faults
    assert 0.9 < (outage.healed_ns - outage.began_ns) / 1e9 < 1.1
    assert "never confirmed" in outage.finding
    assert [each.outcome for each in story.operations[1:]] == [Outcome.OK] * 2


def test_steps_wait_for_the_moment_of_the_fault_itself(sim: Any) -> None:
    later = send("later", when=StartCondition(alias="outage", after_s=2.0))
    plan = sim.plan(
        CONNECT,
        fault("slow_answer", api="produce", delay="100ms", trigger=Trigger(request="produce", broker=1)),
        send("one"),
        later,
    )
    story = sim.run(plan)
    (slow,) = story.faults
    assert story.operations[-1].started_ns - slow.confirmed_ns >= 2_000_000_000
