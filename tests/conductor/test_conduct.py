"""Protects the run itself, on virtual time to the nanosecond: steps in time, faults always healed, honest ends.

Sarama's constructor with every port dark takes four dials and three back-offs: 4.75 s.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from harness.cluster_view import ClusterView
from harness.conductor import conduct
from harness.environments.world import ActiveLever, ProgressCallback, World
from harness.faults.base import FaultModel, Proof, Stage
from harness.levers import FilterPackets, Lever, PacketAction, PacketsDropped
from harness.plan import PlannedFault, PlannedHealing, PlannedOperation, RunPlan, StartCondition
from harness.story import EventKind, Outcome, Story

S = 1_000_000_000
CONNECT = PlannedOperation(operation="connect", alias="c")


def kinds(story: Story, source: str = "conductor") -> list[str]:
    return [h.kind for h in story.events if h.source == source]


def at(story: Story, kind: str, alias: str | None = None) -> list[int]:
    return [h.at_ns for h in story.events if h.kind == kind and (alias is None or h.fields.get("alias") == alias)]


def test_a_dark_bootstrap_is_timed_as_its_caller_saw_it(sim: Any) -> None:
    texts: list[str] = []
    story = sim.run(
        sim.plan(PlannedOperation(operation="start_client", alias="s"), sim.blackhole(), CONNECT), progress=texts.append
    )
    assert story.error is None
    start, connect = story.operations
    assert (start.operation, start.outcome, start.stamped) == ("start_client", Outcome.OK, "harness")
    assert (connect.outcome, connect.error_class, connect.stamped) == (Outcome.FAILED, "ErrOutOfBrokers", "subject")
    assert connect.ended_ns - connect.started_ns == 4.75 * S
    (fault,) = story.faults
    assert (fault.proven, fault.proof, fault.healed_ns) == (True, "packets_dropped", connect.ended_ns)
    assert fault.finding == f"dropped {fault.count:.0f} packets"
    assert fault.count >= 4
    happened = kinds(story)
    assert len(set(happened)) == len(happened), "each once"
    for earlier, later in [
        (EventKind.CLIENT_STARTED, EventKind.CLIENT_READY),
        (EventKind.CLIENT_READY, EventKind.FAULT_BEGAN),
        (EventKind.FAULT_BEGAN, EventKind.FAULT_CONFIRMED),
        (EventKind.HEALING_BEGAN, EventKind.FAULT_HEALED),
        (EventKind.FAULT_HEALED, EventKind.CLIENT_ENDED),
    ]:
        assert happened.index(earlier) < happened.index(later)
    assert kinds(story, "subject").count("dial_started") == 4
    assert texts.index("starting the client") < texts.index("injecting outage") < texts.index("connect c")
    assert texts.count("dialling 127.0.2.1:9092") == 4
    assert "backing off" in texts
    assert story.noise.loop_lag_p99_s == 0


def test_the_client_starts_with_its_first_operation_behind_a_cold_fault(sim: Any) -> None:
    story = sim.run(sim.plan(sim.blackhole(), replace(CONNECT, when=StartCondition(after_s=2.0))))
    assert at(story, EventKind.FAULT_CONFIRMED) < at(story, EventKind.CLIENT_STARTED) == [2 * S]
    assert story.ready_s == 2.0


def test_a_fault_without_effect_is_found_unproven(sim: Any) -> None:
    story = sim.run(sim.plan(PlannedOperation(operation="start_client", alias="s"), sim.blackhole()))
    assert [(f.proven, f.finding) for f in story.faults] == [(False, "dropped 0 packets: nothing was tested")]


def test_patience_censors_and_the_run_goes_on(sim: Any) -> None:
    story = sim.run(
        sim.plan(
            sim.blackhole(),
            replace(CONNECT, give_up_after_s=3.0),
            PlannedHealing(alias="outage", when=StartCondition(after_s=4.0)),
        )
    )
    (connect,) = story.operations
    assert (connect.outcome, connect.ended_ns - connect.started_ns) == (Outcome.CENSORED, 3 * S)
    assert at(story, EventKind.GAVE_UP) == [3 * S]
    assert at(story, EventKind.ANSWERED_LATE) == [4.75 * S]
    assert at(story, EventKind.FAULT_HEALED) == [7 * S]
    assert story.error is None


def test_an_unmet_expectation_ends_the_steps(sim: Any) -> None:
    story = sim.run(
        sim.plan(sim.blackhole(), replace(CONNECT, expect="ok"), PlannedOperation(operation="send", alias="never"))
    )
    (connect,) = story.operations
    assert connect.unmet is not None
    assert connect.unmet.startswith("`c` was expected to be ok, but failed after 4.750 s: ")
    assert len(at(story, EventKind.STEP_UNMET)) == 1
    assert (story.faults[0].healing_ns, story.faults[0].healed_ns) == (4.75 * S, 4.75 * S)
    assert story.error is None


def test_an_unmet_expectation_in_the_background_ends_the_steps_at_once(sim: Any) -> None:
    story = sim.run(
        sim.plan(
            sim.blackhole(),
            replace(CONNECT, expect="ok", background=True),
            PlannedHealing(alias="outage", when=StartCondition(after_s=60.0)),
        )
    )
    assert story.operations[0].unmet is not None
    assert story.ended_ns < 5 * S
    assert story.faults[0].healed_ns == 4.75 * S


def test_background_steps_and_moments(sim: Any) -> None:
    story = sim.run(
        sim.plan(
            sim.blackhole("a"),
            replace(CONNECT, background=True, when=StartCondition(alias="a", after_s=0.5)),
            sim.blackhole("b", when=StartCondition(after_s=1.0)),
            PlannedHealing(alias="b", when=StartCondition(alias="c", after_s=2.0)),
        )
    )
    (connect,) = story.operations
    assert (connect.started_ns, connect.ended_ns) == (0.5 * S, 5.25 * S)
    assert at(story, EventKind.FAULT_BEGAN, "b") == [1.5 * S]
    assert at(story, EventKind.FAULT_HEALED, "b") == [7.25 * S]


def test_for_heals_by_itself_while_steps_go_on(sim: Any) -> None:
    story = sim.run(sim.plan(sim.blackhole(for_s=2.0), CONNECT))
    assert story.faults[0].healed_ns == 2 * S
    assert story.operations[0].ended_ns > 2 * S


def test_faults_heal_in_reverse_order_and_so_do_their_levers(sim: Any) -> None:
    noted: list[tuple[str, Any]] = []

    async def spying(plan: RunPlan, world: World, progress: ProgressCallback, logs: Path | None) -> Story:
        spied = sim.spied(world, None)
        try:
            return await conduct(plan, spied, progress, logs)
        finally:
            noted.extend(spied.noted)

    story = sim.run(sim.plan(sim.blackhole("first"), PlannedFault(fault=Staged(), alias="second"), CONNECT), spying)
    pulled = [lever for what, lever in noted if what == "pulled"]
    assert len(pulled) == 4
    assert [lever for what, lever in noted if what == "undone"] == pulled[::-1]
    assert at(story, EventKind.FAULT_CONFIRMED, "second") == [1.5 * S]
    assert [h.fields["alias"] for h in story.events if h.kind == EventKind.FAULT_HEALED] == ["second", "first"]


class Staged(FaultModel):
    """First one way, then the other."""

    name: ClassVar[str] = "staged"
    proof = Proof(PacketsDropped, scope="each_lever")

    def stages(self, view: ClusterView) -> tuple[Stage, ...]:
        return (
            Stage(FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)),
            Stage(FilterPackets(broker=1, flow="to_client", verdict=PacketAction.DROP), after_s=1.5),
        )


def test_each_lever_is_pulled_in_its_time_and_has_to_show_an_effect(sim: Any) -> None:
    story = sim.run(sim.plan(PlannedFault(fault=Staged(), alias="outage"), CONNECT))
    (fault,) = story.faults
    assert (fault.began_ns, fault.confirmed_ns) == (0, 1.5 * S)
    assert not fault.proven
    assert fault.finding.endswith("but too little at broker 1 (to_client): not all was tested")


def test_a_run_past_its_limit_is_stopped_healed_and_told(sim: Any) -> None:
    story = sim.run(sim.plan(sim.blackhole(), CONNECT, limit_s=2.0))
    assert story.error is not None
    assert (story.error.code, story.error.blame) == ("run-overran", "lab")
    (connect,) = story.operations
    assert (connect.outcome, connect.ended_ns) == (Outcome.CENSORED, 2 * S)
    assert story.faults[0].healed_ns == 2 * S


def test_a_part_of_the_world_that_dies_is_the_labs_error(sim: Any) -> None:
    async def dying(plan: RunPlan, world: World, progress: ProgressCallback, logs: Path | None) -> Story:
        died = world.failure()
        asyncio.get_running_loop().call_later(1.5, died.set_result, "toxiproxy ended with signal 9")
        return await conduct(plan, world, progress, logs)

    story = sim.run(sim.plan(sim.blackhole(), CONNECT), dying)
    assert story.error is not None
    assert (story.error.code, story.error.text) == ("world-failed", "toxiproxy ended with signal 9")
    assert story.operations[0].ended_ns == 1.5 * S
    assert story.faults[0].healed_ns == 1.5 * S


def test_a_cancelled_run_heals_and_says_nothing(sim: Any) -> None:
    noted: list[str] = []

    async def cancelled(plan: RunPlan, world: World, progress: ProgressCallback, logs: Path | None) -> Story:
        spied = sim.spied(world, None)
        task = asyncio.create_task(conduct(plan, spied, progress, logs))
        await asyncio.sleep(1.5)
        task.cancel()
        try:
            return await task
        finally:
            noted.extend(what for what, _ in spied.noted)

    with pytest.raises(asyncio.CancelledError):
        sim.run(sim.plan(sim.blackhole(), CONNECT), cancelled)
    assert noted == ["pulled", "pulled", "undone", "undone"]


@pytest.mark.parametrize("how", ["hangs", "fails"])
def test_a_lever_that_cannot_be_undone_is_the_labs_error(sim: Any, how: str) -> None:
    async def spoil() -> None:
        if how == "hangs":
            await asyncio.sleep(60)
        raise OSError("netlink refused")

    async def spoiling(plan: RunPlan, world: World, progress: ProgressCallback, logs: Path | None) -> Story:
        return await conduct(plan, sim.spied(world, spoil), progress, logs)

    story = sim.run(sim.plan(sim.blackhole(), CONNECT), spoiling)
    assert story.error is not None
    assert story.error.code == "heal-failed"
    assert "`outage`" in story.error.text
    assert story.faults[0].healed_ns is None
    assert story.operations[0].ended_ns == 4.75 * S


@pytest.mark.parametrize("how", ["hangs", "fails"])
def test_what_was_pulled_is_undone_where_the_run_ends_while_the_next_lever_is_pulled(sim: Any, how: str) -> None:
    noted: list[str] = []

    async def spoiling(plan: RunPlan, world: World, progress: ProgressCallback, logs: Path | None) -> Story:
        spied = sim.spied(world, None)
        pull = spied.pull

        @asynccontextmanager
        async def pull_one(lever: Lever) -> AsyncIterator[ActiveLever]:
            if spied.noted:
                await asyncio.sleep(60 if how == "hangs" else 3)
                raise OSError("netlink refused")
            async with pull(lever) as pulled:
                yield pulled

        spied.pull = pull_one
        try:
            return await conduct(plan, spied, progress, logs)
        finally:
            noted.extend(what for what, _ in spied.noted)

    story = sim.run(sim.plan(sim.blackhole(), CONNECT, limit_s=2.0), spoiling)
    assert noted == ["pulled", "undone"]
    assert story.error is not None


def test_a_client_that_cannot_start_is_the_subjects_error(sim: Any) -> None:
    plan = sim.plan(sim.blackhole(), CONNECT)
    story = sim.run(replace(plan, client=replace(plan.client, version="0.0.0")))
    assert story.error is not None
    assert (story.error.code, story.error.blame) == ("subject-died", "subject")
    assert "exit code 4 before it said `ready`" in story.error.text
    assert story.ready_s is None


def test_a_command_that_makes_no_sense_is_not_measured(sim: Any) -> None:
    story = sim.run(sim.plan(PlannedOperation(operation="send", alias="p")))
    assert story.error is not None
    assert (story.error.code, story.error.blame) == ("plan-unusable", "lab")


def test_a_client_that_could_not_connect_ends_the_run_and_the_lab_is_not_blamed(sim: Any) -> None:
    connect, send = replace(CONNECT, line=9), PlannedOperation(operation="send", alias="p", line=10)
    story = sim.run(sim.plan(sim.blackhole(), connect, send))
    assert story.error is not None
    assert (story.error.code, story.error.blame) == ("subject-not-connected", "subject")
    (failed,) = story.operations  # what could not be called has no time
    assert (failed.alias, failed.outcome) == (connect.alias, Outcome.FAILED)
    assert failed.error is not None
    assert all(said in story.error.text for said in (failed.error, "line 9", "`p`"))


def test_another_handles_connect_does_not_excuse_a_command_that_makes_no_sense(sim: Any) -> None:
    send = PlannedOperation(operation="send", alias="p", arguments={"handle": "second"})
    story = sim.run(sim.plan(sim.blackhole(), CONNECT, send))
    assert story.error is not None
    assert (story.error.code, story.error.blame) == ("plan-unusable", "lab")


def test_the_same_seed_tells_the_same_story(sim: Any) -> None:
    plan = sim.plan(sim.blackhole(for_s=2.0), replace(CONNECT, background=True), sim.blackhole("again"))
    first = sim.run(plan)
    assert all(sim.run(plan) == first for _ in range(20))
