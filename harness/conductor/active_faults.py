"""The faults of a run: injected by its steps, healed by a step, by their own time, or when the run ends."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from client.events import TraceKind
from harness.cluster_view import ClusterView
from harness.conductor.faults import ON_ITS_WAY_NS, ActiveFault
from harness.conductor.levers_before import LeversBefore
from harness.conductor.moments import Moments, sleep_until
from harness.conductor.progress import ProgressReporter
from harness.conductor.recorder import Recorder
from harness.conductor.tasks import RunTasks
from harness.environments.world import World
from harness.event import OneShotEvent
from harness.faults.unreachable_address import UnreachableAddress
from harness.plan import PlannedFault, Recurrence, Step, Trigger, call_alias, step_alias
from harness.story import EventKind, FaultStory, OperationStory

_DIALS = (str(TraceKind.DIAL_STARTED), str(EventKind.DIAL_SEEN))


class ActiveFaults:
    """Every fault that was injected, in the order of injection."""

    def __init__(
        self,
        *,
        world: World,
        seed: str,
        recorder: Recorder,
        reporter: ProgressReporter,
        moments: Moments,
        tasks: RunTasks,
    ) -> None:
        """`seed`: of the chance by which faults choose brokers."""
        self._world = world
        self._recorder = recorder
        self._reporter = reporter
        self._moments = moments
        self._tasks = tasks
        self._seed = seed
        self._faults: dict[str, ActiveFault] = {}
        self._coming: dict[str, asyncio.Task[None]] = {}
        self._implied: dict[str, ActiveFault] = {}
        self._before: dict[str, LeversBefore] = {}

    async def blackhole(self, addresses: tuple[int, ...]) -> None:
        """Drop everything that is sent to these bootstrap addresses, which belong to no broker. Raises WorldError.

        Each is a fault that the scenario implies. It leaves nothing in the records, unless the client dialled the
        address and no packet was dropped: then `stories` has it as an unproven fault.
        """
        for address in addresses:
            host, port = self._world.advertised_address(address)
            step = PlannedFault(fault=UnreachableAddress(address=address), alias=f"bootstrap {host}:{port}")
            fault = ActiveFault(step, self._world, Recorder(self._recorder.origin_ns))
            self._implied[f"{host}:{port}"] = fault
            await fault.pull(self._world.view())

    async def prepare(self, steps: Sequence[Step]) -> None:
        """Pull what these steps' faults need beforehand. Raises WorldError."""
        view = self._world.view()
        for step in (step for step in steps if isinstance(step, PlannedFault)):
            seen = replace(view, seed=self._chance(step.alias))
            if step.fault.beforehand(seen):
                before = self._before[step.alias] = LeversBefore(step.fault, self._world, seen)
                await before.pull()

    async def inject(self, step: PlannedFault) -> None:
        """Inject a fault, or wait in the background for the request that triggers it; its own healing and recurring go
        on in the background, too. Raises WorldError."""
        if step.trigger is not None:
            await self._arm(step, step.trigger)
            return
        confirmed_ns = await self._inject(step)
        self._moments.reach(step.alias, confirmed_ns)
        if step.recurs is not None:
            self._coming[step.alias] = self._tasks.start(self._recur(step, step.recurs, confirmed_ns))

    async def heal(self, alias: str) -> None:
        """Heal the fault called `alias`, and let it come no more; it may be healed already. Raises WorldError."""
        self._reporter.report(f"healing {alias}")
        coming = self._coming.pop(alias, None)
        try:
            if coming is not None:
                await self._end(coming, alias)
        finally:
            for fault in self._called(alias):
                await fault.heal()

    async def let_meet(self) -> None:
        """Give what the client has just sent the time to arrive, where a fault is in force that has met nothing: a send
        that waits for no acknowledgement ends before its packets are anywhere. Raises WorldError."""
        arrived_ns = self._world.now_ns() + ON_ITS_WAY_NS
        for fault in tuple(self._faults.values()):
            if await fault.lacks_proof():
                await sleep_until(self._world, arrived_ns)

    async def heal_all(self) -> None:
        """Heal every fault, the last one first. The run keeps the first failure."""
        for before in self._before.values():
            before.closing()
        for alias in reversed([name for name in self._faults if step_alias(name) == name]):
            await self._tasks.keep_failure(self.heal(alias))
        for fault in reversed(self._implied.values()):
            await self._tasks.keep_failure(fault.heal())
        for before in reversed(self._before.values()):
            await self._tasks.keep_failure(before.close())

    async def look_for(self, operations: Sequence[OperationStory]) -> None:
        """Find out what each fault met, once all are healed. The run keeps the first failure."""
        for fault in self._faults.values():
            await self._tasks.keep_failure(fault.look_for(operations))

    def stories(self) -> tuple[FaultStory, ...]:
        """In the order of injection, behind the implied ones that did not work."""
        implied = {address: fault.story() for address, fault in self._implied.items()}
        unproven = [story for address, story in implied.items() if not story.proven and self._dialled(address, story)]
        return (*unproven, *(fault.story() for fault in self._faults.values()))

    def _called(self, alias: str) -> list[ActiveFault]:
        """The fault with its occurrences."""
        return [fault for name, fault in self._faults.items() if step_alias(name) == alias]

    async def _end(self, coming: asyncio.Task[None], alias: str) -> None:
        """Let a fault come no more. Where its request has come, that is let through once the fault is injected."""
        for fault in self._called(alias):
            await fault.end_injection()
        triggered = self._faults[alias]
        if triggered.step.trigger is None or not triggered.began:
            coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)

    def _dialled(self, address: str, fault: FaultStory) -> bool:
        """Whether the client dialled an address before the fault was healed, as it says or as the wire shows."""
        return any(
            event.kind in _DIALS
            and event.fields.get("address") == address
            and (fault.healing_ns is None or event.at_ns < fault.healing_ns)
            for event in self._recorder.events()
        )

    def _view(self, alias: str) -> ClusterView:
        """The cluster as a fault sees it now, with a chance of its own."""
        selected = frozenset().union(*(fault.brokers for fault in self._faults.values()))
        return replace(self._world.view(), selected=selected, seed=self._chance(alias))

    def _chance(self, alias: str) -> str:
        return f"{self._seed}/fault/{alias}"

    async def _arm(self, step: PlannedFault, trigger: Trigger) -> None:
        """Return once the request that triggers the fault is waited for."""
        self._reporter.report(f"waiting for the request that triggers {step.alias}")
        self._faults[step.alias] = ActiveFault(step, self._world, self._recorder)
        armed = OneShotEvent()
        self._coming[step.alias] = self._tasks.start(self._inject_upon(trigger, step, armed))
        await armed.wait()

    async def _inject_upon(self, trigger: Trigger, step: PlannedFault, armed: OneShotEvent) -> None:
        """Inject the fault once the request has come, and then let the request through."""
        async with self._world.hold_request(trigger.intercept) as came:
            armed.set()
            await came.wait()
            confirmed_ns = await self._inject(step)
        self._moments.reach(step.alias, confirmed_ns)

    async def _inject(self, step: PlannedFault) -> int:
        """When it was confirmed, as an absolute clock value."""
        self._reporter.report(f"injecting {step.alias}")
        before = self._before.get(step_alias(step.alias))
        fault = self._faults[step.alias] = ActiveFault(step, self._world, self._recorder, before)
        confirmed_ns = await fault.pull(self._view(step.alias))
        if step.for_s is not None:
            self._tasks.start(self._heal_at(fault, confirmed_ns + round(step.for_s * 1e9)))
        return confirmed_ns

    async def _recur(self, step: PlannedFault, recurs: Recurrence, first_ns: int) -> None:
        before = step
        for number in range(2, recurs.times + 1):
            await sleep_until(self._world, first_ns + round((number - 1) * recurs.every_s * 1e9))
            await self._faults[before.alias].heal()
            before = replace(step, alias=call_alias(step.alias, number), recurs=None)
            await self._inject(before)

    async def _heal_at(self, fault: ActiveFault, at_ns: int) -> None:
        await sleep_until(self._world, at_ns)
        await fault.heal()
