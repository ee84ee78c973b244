"""Protects what faults see of a cluster, and that they work on the brokers that their selectors mean then."""

import asyncio
from dataclasses import replace

import pytest
from talk import REPLICATED, TOPIC, Talk, produce

from client.events import TraceKind
from harness.cluster_view import PartitionView
from harness.conductor.active_faults import ActiveFaults
from harness.conductor.moments import Moments
from harness.conductor.progress import ProgressReporter
from harness.conductor.recorder import Recorder
from harness.conductor.tasks import RunTasks
from harness.environments.world import World, WorldError
from harness.faults import FAULTS
from harness.plan import BLACKHOLED_BASE, PlannedFault
from harness.story import EventKind

UNREACHABLE = BLACKHOLED_BASE + 1


class Conducted:
    """Faults in a world, as the conductor injects them."""

    def __init__(self, world: World, *steps: PlannedFault) -> None:
        self.recorder = Recorder(world.now_ns())
        self.tasks = RunTasks()
        self.faults = ActiveFaults(
            world=world, seed="contract", recorder=self.recorder, reporter=ProgressReporter(lambda _: None),
            moments=Moments(steps, world, "starts"), tasks=self.tasks,
        )  # fmt: skip

    def saw_dial(self, world: World) -> None:
        """The client says that it dials the unreachable address."""
        fields = {"address": _text(world.advertised_address(UNREACHABLE))}
        self.recorder.record_event("subject", world.now_ns(), TraceKind.DIAL_STARTED, fields)

    async def end(self) -> None:
        await self.faults.heal_all()
        assert self.tasks.failure is None, self.tasks.failure


def planned(name: str, brokers: object) -> PlannedFault:
    return PlannedFault(fault=FAULTS[name].model_validate({"brokers": brokers}), alias=name)


async def test_a_world_shows_its_cluster(world: World) -> None:
    view = world.view()
    assert view == world.cluster.view()
    alone = (PartitionView(leader=1, replicas=(1,)), PartitionView(leader=2, replicas=(2,)))
    assert view.topics == {TOPIC: alone, REPLICATED: (PartitionView(leader=1, replicas=(1, 2)),)}
    assert (view.brokers, view.controller) == ((1, 2), 1)


async def test_a_fault_works_on_the_leader_and_the_next_one_on_the_others(world: World) -> None:
    first, second = planned("pause", f"leader({TOPIC}/1)"), planned("silence", "others")
    conducted = Conducted(world, first, second)
    await conducted.faults.inject(first)
    await conducted.faults.inject(second)
    (await Talk.to(world, 1)).send(produce(b"unheard"))
    (await Talk.to(world, 2)).send(produce(b"unread", partition=1))
    await asyncio.sleep(0.3)
    await conducted.end()
    chosen = [event.fields["text"] for event in conducted.recorder.events() if event.kind == EventKind.FAULT_CONFIRMED]
    assert chosen == ["broker 2", "broker 1"]
    pause, silence = conducted.faults.stories()
    assert (pause.proven, pause.count) == (True, 1)
    assert (silence.proven, silence.count) == (True, 1)


async def test_a_selector_that_means_nobody_when_it_is_injected_is_an_error_of_the_plan(world: World) -> None:
    everywhere, others = planned("silence", "all"), planned("pause", "others")
    conducted = Conducted(world, everywhere, others, replace(others, alias="healed"))
    await conducted.faults.inject(everywhere)
    with pytest.raises(WorldError, match="fault `pause`: no broker") as caught:
        await conducted.faults.inject(others)
    assert caught.value.code == "plan-unusable"
    await conducted.faults.heal("silence")
    await conducted.faults.inject(replace(others, alias="healed"))
    await conducted.end()


async def test_an_unreachable_address_that_was_dialled_and_dropped_leaves_no_trace(world: World) -> None:
    conducted = Conducted(world)
    await conducted.faults.blackhole((UNREACHABLE,))
    conducted.saw_dial(world)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await Talk.to(world, UNREACHABLE)
    await conducted.end()
    assert conducted.faults.stories() == ()
    assert [event.kind for event in conducted.recorder.events()] == [TraceKind.DIAL_STARTED]


async def test_an_unreachable_address_without_a_dropped_packet_is_unproven_once_it_was_dialled(world: World) -> None:
    conducted = Conducted(world)
    await conducted.faults.blackhole((UNREACHABLE, UNREACHABLE + 1))
    conducted.saw_dial(world)
    await asyncio.sleep(0.01)
    await conducted.end()
    (story,) = conducted.faults.stories()
    assert not story.proven
    assert story.alias == f"bootstrap {_text(world.advertised_address(UNREACHABLE))}"
    assert story.finding == "dropped 0 packets: nothing was tested"


def _text(address: tuple[str, int]) -> str:
    return f"{address[0]}:{address[1]}"
