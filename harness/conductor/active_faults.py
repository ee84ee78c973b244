"""The faults of a run: injected by its steps, healed by a step, by their own time, or when the run ends."""

from contextlib import AsyncExitStack

from harness.conductor.faults import ActiveFault
from harness.conductor.moments import Moments, sleep_until
from harness.conductor.progress import ProgressReporter
from harness.conductor.recorder import Recorder
from harness.conductor.tasks import RunTasks
from harness.environments.world import World
from harness.levers import FilterPackets, PacketAction
from harness.plan import PlannedFault
from harness.story import FaultStory


class ActiveFaults:
    """Every fault that was injected, in the order of injection."""

    def __init__(
        self, *, world: World, recorder: Recorder, reporter: ProgressReporter, moments: Moments, tasks: RunTasks
    ) -> None:
        self._world = world
        self._recorder = recorder
        self._reporter = reporter
        self._moments = moments
        self._tasks = tasks
        self._faults: dict[str, ActiveFault] = {}
        self._blackholed_addresses = AsyncExitStack()

    async def blackhole(self, addresses: tuple[int, ...]) -> None:
        """Drop everything that is sent to these bootstrap addresses, which belong to no broker. Raises WorldError."""
        for address in addresses:
            drop = FilterPackets(broker=address, flow="to_broker", verdict=PacketAction.DROP)
            await self._blackholed_addresses.enter_async_context(self._world.pull(drop))

    async def inject(self, step: PlannedFault) -> None:
        """Inject a fault, and have it healed in time where it has a time of its own. Raises WorldError."""
        self._reporter.report(f"injecting {step.alias}")
        fault = self._faults[step.alias] = ActiveFault(step, self._world, self._recorder)
        confirmed_ns = await fault.pull()
        self._moments.reach(step.alias, confirmed_ns)
        if step.for_s is not None:
            self._tasks.start(self._heal_at(fault, confirmed_ns + round(step.for_s * 1e9)))

    async def heal(self, alias: str) -> None:
        """Heal the fault called `alias`; it may be healed already. Raises WorldError."""
        self._reporter.report(f"healing {alias}")
        await self._faults[alias].heal()

    async def heal_all(self) -> None:
        """Heal every fault, the last one first. The run keeps the first failure."""
        for alias in reversed(self._faults):
            await self._tasks.keep_failure(self.heal(alias))
        await self._tasks.keep_failure(self._blackholed_addresses.aclose())

    def stories(self) -> tuple[FaultStory, ...]:
        """In the order of injection."""
        return tuple(fault.story() for fault in self._faults.values())

    async def _heal_at(self, fault: ActiveFault, at_ns: int) -> None:
        await sleep_until(self._world, at_ns)
        await fault.heal()
