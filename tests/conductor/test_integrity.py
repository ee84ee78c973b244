"""Protects what is said of the log: it is read after healing and settling alone, and every record finds its sender."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.conductor import conduct
from harness.environments.world import ProgressCallback, World
from harness.plan import PlannedFault, PlannedOperation, RepeatUntil, RunPlan, StartCondition
from harness.story import EventKind, Outcome, SettleResult, Story, WriteStatus

S = 1_000_000_000
CONNECT = PlannedOperation(operation="connect", alias="connect", expect="ok")
WARM_UP = PlannedOperation(operation="send", alias="warm_up", expect="acknowledged")
PROBE = PlannedOperation(operation="send", alias="probe")


def plan_of(sim: Any, *steps: Any, no_retry: bool = True, **more: Any) -> RunPlan:
    """A read waits 500 ms; without retry its error is the caller's."""
    settings = (sim.seconds("Net.ReadTimeout", 0.5),)
    plan: RunPlan = sim.plan(*steps, settings=settings, integrity=True, **more)
    retry = replace(settings[0], name="Producer.Retry.Max", text="0", unit="count", value=0.0)
    return replace(plan, settings=(*plan.settings, retry)) if no_retry else plan


def written(story: Story) -> dict[str, WriteStatus | None]:
    return {operation.alias: operation.written for operation in story.operations}


def test_a_request_that_is_delivered_after_its_error_is_a_zombie(sim: Any) -> None:
    """Dark from 0 to 1.2 s: the error comes at 0.5 s, the kernel sends the request again at 1.632 s."""
    said: list[str] = []
    plan = plan_of(sim, CONNECT, WARM_UP, sim.blackhole(for_s=1.2), PROBE, replace(CONNECT, alias="late", expect=None,
                   operation="send", when=StartCondition(alias="outage", after_s=1.3)))  # fmt: skip
    story = sim.run(plan, progress=said.append)
    assert story.error is None
    probe = next(operation for operation in story.operations if operation.alias == "probe")
    assert (probe.outcome, probe.ended_ns - probe.started_ns) == (Outcome.FAILED, 0.5 * S)
    assert written(story) == {"connect": None, "warm_up": "written", "probe": "written", "late": "written"}
    assert story.integrity is not None
    assert story.integrity.settled.complete
    assert sorted((copy.operation, copy.topic, copy.partition) for copy in story.integrity.copies) == [
        ("late", "orders", 0), ("probe", "orders", 0), ("warm_up", "orders", 0),
    ]  # fmt: skip
    assert story.integrity.foreign_records == 0
    assert said[-1] == "settling"
    at_ns = {event.kind: event.at_ns for event in story.events}
    assert at_ns[EventKind.FAULT_HEALED] <= at_ns[EventKind.CLIENT_ENDED] <= at_ns[EventKind.SETTLING_BEGAN]
    assert at_ns[EventKind.SETTLING_BEGAN] < at_ns[EventKind.SETTLED]


def test_a_link_that_stays_dark_until_the_kernel_has_given_up_delivers_nothing(sim: Any) -> None:
    plan = plan_of(
        sim,
        CONNECT,
        WARM_UP,
        sim.blackhole(for_s=120.0),
        PROBE,
        PlannedOperation(operation="send", alias="late", when=StartCondition(alias="outage", after_s=121.0)),
    )
    assert written(sim.run(plan))["probe"] == WriteStatus.NOT_WRITTEN


def test_nobody_asked_nobody_waits(sim: Any) -> None:
    plan = replace(plan_of(sim, CONNECT, WARM_UP, sim.blackhole(for_s=1.2), PROBE), integrity=False)
    story = sim.run(plan)
    assert story.integrity is None
    assert written(story) == {"connect": None, "warm_up": "unknown", "probe": "unknown"}
    assert EventKind.SETTLING_BEGAN not in [h.kind for h in story.events]


def test_a_world_that_has_not_settled_leaves_the_unwritten_unknown(sim: Any) -> None:
    async def never_settles(plan: RunPlan, world: World, progress: ProgressCallback, logs: Path | None) -> Story:
        async def settle(limit_s: float) -> SettleResult:
            await asyncio.sleep(limit_s)
            return SettleResult(seconds=limit_s, complete=False)

        world.settle = settle  # type: ignore[method-assign]
        return await conduct(plan, world, progress, logs)

    story = sim.run(plan_of(sim, CONNECT, WARM_UP, sim.blackhole(for_s=1.2), PROBE), never_settles)
    # After the limit the request has been delivered: what is there is there, what is not there might still come.
    assert written(story)["warm_up"] == WriteStatus.WRITTEN
    assert story.integrity is not None
    assert not story.integrity.settled.complete


def test_a_run_that_went_wrong_does_not_wait_for_a_log_that_decides_nothing(sim: Any) -> None:
    story = sim.run(plan_of(sim, sim.blackhole(), replace(CONNECT)))
    assert story.operations[0].unmet is not None
    assert story.integrity is None


def test_values_that_two_sends_share_are_refused_where_the_log_is_judged(sim: Any) -> None:
    same = {"value": "the same"}
    plan = plan_of(sim, CONNECT, replace(WARM_UP, arguments=same), replace(PROBE, arguments=same))
    error = sim.run(plan).error
    assert error is not None
    assert (error.code, error.text) == ("plan-unusable", "`warm_up` and `probe` send the same value")


class TestAgain:
    """`every: 1s, until: acknowledged`: calls of their own, in time, within one patience."""

    def calls(self, sim: Any, again: RepeatUntil, *, dark_s: float, patience_s: float = 60.0, **more: Any) -> Story:
        probe = replace(PROBE, again=again, give_up_after_s=patience_s, **more)
        outage: PlannedFault = sim.blackhole(for_s=dark_s)
        story: Story = sim.run(plan_of(sim, CONNECT, WARM_UP, outage, probe))
        return story

    def test_it_is_called_anew_until_it_is_acknowledged(self, sim: Any) -> None:
        """1.27.2 without retry: an error at 0.5 s, then a refresh whose dials of 1 s each fail while it is dark."""
        story = self.calls(sim, RepeatUntil(every_s=1.0, until="acknowledged"), dark_s=8.0)
        probes = [o for o in story.operations if o.alias.startswith("probe")]
        assert [o.alias for o in probes] == ["probe", *(f"probe#{n}" for n in range(2, len(probes) + 1))]
        assert [o.outcome for o in probes] == [Outcome.FAILED] * (len(probes) - 1) + [Outcome.OK]
        assert len(probes) >= 3
        starts = [o.started_ns for o in probes]
        for before, start in zip(probes, starts[1:], strict=False):
            assert start == max(before.started_ns + S, before.ended_ns)

    def test_patience_is_for_all_calls_together(self, sim: Any) -> None:
        story = self.calls(sim, RepeatUntil(every_s=1.0, until="acknowledged"), dark_s=100.0, patience_s=3.0)
        probes = [o for o in story.operations if o.alias.startswith("probe")]
        assert probes[-1].outcome is Outcome.CENSORED
        assert probes[-1].ended_ns - probes[0].started_ns == 3 * S

    def test_the_step_ends_with_its_last_call(self, sim: Any) -> None:
        story = self.calls(sim, RepeatUntil(every_s=1.0, until="failed"), dark_s=8.0, expect="acknowledged")
        (probe,) = (o for o in story.operations if o.alias.startswith("probe"))
        assert probe.unmet is not None
        assert probe.unmet.startswith("`probe` was expected to be acknowledged, but failed after 0.500 s")


def test_dark_addresses_of_no_member_answer_nothing_and_refused_ones_refuse(sim: Any) -> None:
    """Seeds are shuffled: over some seeds each number of dead addresses comes first; a dark one costs a dial's time."""
    took: set[float] = set()
    for seed in range(12):
        plan = sim.plan(CONNECT, seed=seed)
        plan = replace(plan, client=replace(plan.client, bootstrap=(1, 101, 201, 102)))
        story = sim.run(plan)
        assert story.error is None
        (connect,) = story.operations
        took.add(round((connect.ended_ns - connect.started_ns) / S, 2))
    assert took == {0.0, 1.0, 2.0}
