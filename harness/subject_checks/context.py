"""What a check works with: the program, started anew for it, and a broker that can be made unreachable."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.drivers import OperationCall, OperationResult, Subject
from harness.environments.world import World
from harness.levers import FLOWS, FilterPackets, PacketAction
from harness.plan import RunPlan
from harness.story import EventKind, Outcome, StoredRecord, Value

TOPIC, PARTITIONS = "orders", 2


class CheckFailed(Exception):
    """The program does not meet the requirement; the text says what it did, and what it should do."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the broker stays unreachable if the program does not answer; how long an answer may take otherwise."""

    dark_s: float = 2.5
    """The kernel repeats its third SYN and its fourth segment half a second later: a client that only waits is answered
    as soon as the broker is reachable again."""
    patience_s: float = 60.0


class CheckContext:
    """The context of one check. `notes` hold what is allowed but worth knowing."""

    def __init__(self, plan: RunPlan, world: World, log: Path | None, limits: Limits) -> None:
        self.limits = limits
        self.notes: list[str] = []
        self.clock_rejection: str | None = None
        self.dark_ends_ns = 0
        self._plan = plan
        self._world = world
        self._log = log

    @asynccontextmanager
    async def subject(self) -> AsyncIterator[Subject]:
        """The program, once it has said `ready`. Raises SubjectError for whatever it does wrong."""
        async with Subject.started(self._plan, self._world, self._on_event, self._log) as subject:
            yield subject

    def _on_event(self, _at_ns: int, kind: str, fields: Mapping[str, Value]) -> None:
        if kind == EventKind.STAMPS_REFUSED:
            self.clock_rejection = str(fields["text"])

    async def run_operation(
        self, subject: Subject, operation: str, call_id: str, **arguments: str | int
    ) -> OperationResult:
        """One operation, from its command to its answer. Raises CheckFailed where none comes."""
        call = await subject.call(operation, {"op": operation, "id": call_id, **arguments})
        return await self.wait_for_result(subject, call)

    async def connect(self, subject: Subject) -> None:
        """Raises CheckFailed where the program does not connect to a broker that is up."""
        answer = await self.run_operation(subject, "connect", "c")
        if answer.outcome is not Outcome.OK:
            raise CheckFailed(f"`connect` failed though the broker is up: {answer.error}")

    async def wait_for_result(self, subject: Subject, call: OperationCall) -> OperationResult:
        """Raises CheckFailed where no answer comes."""
        waited_s = (self._world.now_ns() - call.started_ns) / 1e9
        answer = await subject.result_of(call, give_up_after_s=waited_s + self.limits.patience_s)
        if answer.outcome is Outcome.CENSORED:
            raise CheckFailed(
                f"`{call.operation}` was not answered within {self.limits.patience_s:g} s though the broker is up; if"
                " the client only takes its time, lower its time-outs with --set, or raise --patience"
            )
        return answer

    @asynccontextmanager
    async def dark(self) -> AsyncIterator[None]:
        """No packet reaches the broker or the program."""
        async with AsyncExitStack() as levers:
            for flow in FLOWS:
                await levers.enter_async_context(
                    self._world.pull(FilterPackets(broker=1, flow=flow, verdict=PacketAction.DROP))
                )
            yield

    async def answers_in_the_dark(self, calls: Sequence[OperationCall]) -> list[OperationResult | None]:
        """What the program answers while the broker is unreachable; None where it waits for longer than that lasts."""
        until_s = asyncio.get_running_loop().time() + self.limits.dark_s
        for call in calls:
            await call.done.by(until_s)
        self.dark_ends_ns = self._world.now_ns()
        return [call.result for call in calls]

    async def log(self) -> tuple[tuple[int, StoredRecord], ...]:
        """Every record of the topic with its partition."""
        found: list[tuple[int, StoredRecord]] = []
        for partition in range(PARTITIONS):
            found += [(partition, record) for record in await self._world.read_log(TOPIC, partition)]
        return tuple(found)
