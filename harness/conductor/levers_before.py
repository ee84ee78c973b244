"""The levers of a fault that are pulled before the client starts, as its beginning ends some of them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from harness.cluster_view import ClusterView
from harness.environments.world import World
from harness.faults.base import FaultModel, Stage
from harness.levers import Lever


class LeversBefore:
    """In force from `pull` to `close`, but for those that are ended while the fault is in force.

    `stages`: what the fault does, for the cluster as it was at first. Raises SelectorError.
    """

    def __init__(self, fault: FaultModel, world: World, view: ClusterView) -> None:
        self.stages: Sequence[Stage] = fault.stages(view)
        self._levers = fault.beforehand(view)
        self._world = world
        self._pulled: dict[Lever, AsyncExitStack] = {}
        self._closing = False

    async def pull(self) -> None:
        """Pull all of them. Raises WorldError."""
        for lever in self._levers:
            await self._pull(lever)

    @asynccontextmanager
    async def ended(self, lever: Lever) -> AsyncIterator[None]:
        """One of them is undone while the context is entered, and pulled again afterwards. Raises WorldError."""
        await self._pulled.pop(lever).aclose()
        try:
            yield
        finally:
            if not self._closing:
                await self._pull(lever)

    def closing(self) -> None:
        """The run ends: what the fault has ended is not pulled again when it is healed."""
        self._closing = True

    async def close(self) -> None:
        """Undo those that are left, the last one first. Raises WorldError."""
        self.closing()
        while self._pulled:
            _, pulled = self._pulled.popitem()
            await pulled.aclose()

    async def _pull(self, lever: Lever) -> None:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._world.pull(lever))
            self._pulled[lever] = stack.pop_all()
