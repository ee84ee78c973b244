"""A fault in a run: its levers pulled in order, its evidence read, everything undone in reverse order."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack

from harness.cluster_view import ClusterView
from harness.conductor.levers_before import LeversBefore
from harness.conductor.moments import sleep_until
from harness.conductor.proof import NOTHING_PULLED, check_proof
from harness.conductor.recorder import Recorder
from harness.environments.world import ActiveLever, World, WorldError
from harness.faults.base import FaultModel, Stage
from harness.faults.brokers import SelectorError, depends_on_cluster
from harness.levers import BrokerLever, Lever
from harness.memo import memoize_last
from harness.plan import PlannedFault
from harness.story import EventKind, FaultStory, OperationStory, Value

HEAL_LIMIT_S = 10.0
"""For reading the evidence, and again for undoing all of a fault's levers."""
ON_ITS_WAY_NS = 100_000_000
"""What an operation sent just before its end may be so long on its way, or be seen so much later."""


class ActiveFault:
    """A fault from its injection on; `heal` may be called more than once."""

    def __init__(
        self, step: PlannedFault, world: World, recorder: Recorder, before: LeversBefore | None = None
    ) -> None:
        """Its events go to `recorder`. `before`: its levers that were pulled before the client started."""
        self.step = step
        self._before = before
        self._world = world
        self._recorder = recorder
        self._levers = AsyncExitStack()
        self._pulled: list[tuple[Lever, ActiveLever]] = []
        self._injecting: asyncio.Task[int] | None = None
        self._waiting = False
        self._healing: asyncio.Task[None] | None = None
        self.began = False
        self._began_ns = world.now_ns()
        self._confirmed_ns: int | None = None
        self._healing_ns: int | None = None
        self._healed_ns: int | None = None
        self._proof = NOTHING_PULLED
        self._unread: str | None = None
        self._met_by: tuple[str, ...] | None = None

    @property
    def brokers(self) -> frozenset[int]:
        """The brokers on which it is in force."""
        if self._healed_ns is not None:
            return frozenset()
        return frozenset(lever.broker for lever, _ in self._pulled if isinstance(lever, BrokerLever))

    async def pull(self, view: ClusterView) -> int:
        """Pull every lever at its time; returns the absolute clock value at which the last one was confirmed.

        `view` is the cluster as it is now. A lever that is being pulled is pulled to its end, even if the caller is
        cancelled: nothing can be told or undone of half a one. Raises WorldError.
        """
        self.began = True
        self._injecting = asyncio.create_task(self._pull(view))
        return await asyncio.shield(self._injecting)

    async def end_injection(self) -> None:
        """Wait until no lever is being pulled; what would be pulled later comes no more. Raises WorldError."""
        if self._injecting is None or self._injecting.done():
            return
        if self._waiting:
            self._injecting.cancel()
        (ended,) = await asyncio.gather(asyncio.shield(self._injecting), return_exceptions=True)
        if isinstance(ended, Exception):
            raise ended

    async def _pull(self, view: ClusterView) -> int:
        self._recorder.sample_delays(self._world)
        self._began_ns = self._world.now_ns()
        self._record_event(self._began_ns, EventKind.FAULT_BEGAN)
        confirmed_ns = self._began_ns
        for stage in self._stages(view):
            self._waiting = True
            await sleep_until(self._world, self._began_ns + round(stage.after_s * 1e9))
            self._waiting = False
            confirmed_ns = max(confirmed_ns, await self._enter(stage))
        self._confirmed_ns = confirmed_ns
        chosen = ", ".join(dict.fromkeys(lever.where for lever, _ in self._pulled))
        text = chosen if depends_on_cluster(self.step.fault) else None
        self._record_event(confirmed_ns, EventKind.FAULT_CONFIRMED, text=text)
        return confirmed_ns

    async def _enter(self, stage: Stage) -> int:
        """When it was confirmed, as an absolute clock value."""
        if stage.ends:
            assert self._before is not None, "a lever that ends was pulled beforehand"
            await self._levers.enter_async_context(self._before.ended(stage.lever))
            return self._world.now_ns()
        pulled = await self._levers.enter_async_context(self._world.pull(stage.lever))
        self._pulled.append((stage.lever, pulled))
        return pulled.confirmed_ns

    def _stages(self, view: ClusterView) -> Sequence[Stage]:
        if self._before is not None:
            return self._before.stages
        try:
            return self.step.fault.stages(view)
        except SelectorError as error:
            raise WorldError("plan-unusable", f"fault `{self.step.alias}`: {error}") from error

    async def lacks_proof(self) -> bool:
        """Whether it is in force, and has not met anything yet. Raises WorldError."""
        if self._confirmed_ns is None or self._healing is not None:
            return False
        await self._with_timeout(self._read(), "telling what its levers did")
        return not self._proof.proven

    async def heal(self) -> None:
        """Read the evidence, then undo every lever, the last one first. Raises WorldError.

        Once begun it runs to its end, even if the caller is cancelled.
        """
        if self._healing is None:
            self._healing = asyncio.create_task(self._heal())
        await asyncio.shield(self._healing)

    async def _heal(self) -> None:
        if not self.began:
            return
        try:
            await self._with_timeout(self.end_injection(), "being injected")
        finally:
            await self._end()

    async def _end(self) -> None:
        """Read the evidence and undo every lever, also where pulling one has failed, or hangs."""
        if self._injecting is not None and not self._injecting.done():
            self._injecting.cancel()
            await asyncio.gather(self._injecting, return_exceptions=True)
        await self._try_to_read()
        self._healing_ns = self._world.now_ns()
        self._record_event(self._healing_ns, EventKind.HEALING_BEGAN)
        await self._with_timeout(self._undo(), "being undone")
        self._healed_ns = self._world.now_ns()
        if any(lever.acts_while_undone for lever, _ in self._pulled):
            await self._try_to_read()
        self._record_event(self._healed_ns, EventKind.FAULT_HEALED, text=self._finding())

    async def _undo(self) -> None:
        try:
            for _, pulled in self._pulled:
                await pulled.begin_undoing()
        finally:
            await self._levers.aclose()

    async def _try_to_read(self) -> None:
        try:
            await self._with_timeout(self._read(), "telling what its levers did")
        except WorldError as error:
            self._unread = error.text

    def _finding(self) -> str:
        finding = self._proof.finding if self._unread is None else f"could not be proven: {self._unread}"
        if not self.began:
            return "was never injected: the request that triggers it did not come"
        return finding if self._confirmed_ns is not None else f"was never confirmed: {finding}"

    def story(self) -> FaultStory:
        """What is known about it; complete once it is healed."""
        fault = self.step.fault
        began_ns = self._pulled[0][1].began_ns if self._pulled else self._began_ns
        since = self._recorder.since_origin
        return FaultStory(
            alias=self.step.alias,
            fault=fault.name,
            parameters=_parameters(fault),
            began_ns=since(began_ns),
            confirmed_ns=since(self._confirmed_ns if self._confirmed_ns is not None else self._world.now_ns()),
            healing_ns=None if self._healing_ns is None else since(self._healing_ns),
            healed_ns=None if self._healed_ns is None else since(self._healed_ns),
            proof=fault.proven_by().evidence.name,
            count=self._proof.count,
            proven=self._proof.proven and self._confirmed_ns is not None,
            finding=self._finding(),
            met_by=self._met_by,
        )

    async def look_for(self, operations: Sequence[OperationStory]) -> None:
        """Find out during which operations it met the client's traffic. For a fault that is healed. Raises WorldError.

        The lab's own probes are left out. What an operation has sent may still be on its way when it ends.
        """
        if not self._proof.proven:
            return
        self._met_by = ()  # also where asking fails: without an answer nothing was met
        await self._with_timeout(self._look_for(operations), "telling what met its levers")

    async def _look_for(self, operations: Sequence[OperationStory]) -> None:
        began_ns = self._recorder.since_origin(self._pulled[0][1].began_ns)
        later = [operation for operation in operations if operation.outlasts(began_ns)]
        met: list[str] = []
        for one in later:
            # Traffic behind its end is its own until the next operation begins, and meets nothing once that is healed.
            over_ns = [other.started_ns for other in later if other is not one and other.started_ns >= one.ended_ns]
            if self._healing_ns is not None:
                over_ns.append(self._recorder.since_origin(self._healing_ns))
            until_ns = max(one.ended_ns, min([one.ended_ns + ON_ITS_WAY_NS, *(at_ns - 1 for at_ns in over_ns)]))
            if await self._was_met_by(one, began_ns, until_ns):
                met.append(one.alias)
        self._met_by = tuple(met)

    async def _was_met_by(self, operation: OperationStory, began_ns: int, until_ns: int) -> bool:
        origin_ns = self._recorder.origin_ns
        called_ns = operation.started_ns
        if operation.stamped == "harness" and operation.asked_ns is not None:
            called_ns = operation.asked_ns
        for lever, pulled in self._pulled:
            since_ns = origin_ns + (min(called_ns, began_ns) if lever.lasts else called_ns)
            evidence = await pulled.evidence(since_ns, origin_ns + until_ns)
            if self.step.fault.proven_by().evidence.of(evidence).amount >= lever.enough:
                return True
        return False

    async def _read(self) -> None:
        seen = [(lever, await pulled.evidence()) for lever, pulled in self._pulled]
        self._proof = check_proof(self.step.fault, seen)

    async def _with_timeout(self, work: Awaitable[None], doing: str) -> None:
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + HEAL_LIMIT_S):
                await work
        except TimeoutError as error:
            raise WorldError(
                "heal-failed", f"fault `{self.step.alias}` was not done {doing} within {HEAL_LIMIT_S:g} s"
            ) from error
        except OSError as error:
            raise WorldError("heal-failed", f"fault `{self.step.alias}` failed {doing}: {error}") from error

    def _record_event(self, at_ns: int, kind: EventKind, **fields: Value) -> None:
        base: Mapping[str, Value] = {"alias": self.step.alias, "purpose": self.step.fault.name}
        self._recorder.record_event("conductor", at_ns, kind, {**base, **fields})


@memoize_last
def _parameters(fault: FaultModel) -> Mapping[str, Value]:
    """Repeats of a case share its fault."""
    return {name: _plain(value) for name, value in fault.model_dump(mode="json").items()}


def _plain(value: object) -> Value:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return str(value)
