"""The steps of a run in time: each starts in its order and at its moment, operations and `for:` run on beside them."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from harness.conductor.faults import ActiveFault, sleep_until
from harness.conductor.progress import REPORTED_KINDS, ProgressReporter
from harness.conductor.recorder import Recorder
from harness.conductor.step_outcome import unmet
from harness.drivers import OperationCall, OperationResult, Subject, SubjectError
from harness.environments.world import LagMonitor, ProgressCallback, World, WorldError
from harness.event import OneShotEvent
from harness.levers import FilterPackets, PacketAction
from harness.operations import OPERATIONS
from harness.plan import PlannedFault, PlannedHealing, PlannedOperation, RunPlan, StartCondition, call_alias, step_alias
from harness.story import EventKind, FaultStory, OperationStory, Outcome, Value

SUBJECT_LOG = "subject.log"
_Failure = SubjectError | WorldError
_COMMAND_ERRORS = ("CommandError", "SettingError")
"""Classes of our own clients' errors that come from the lab's command, not from the real client's behaviour."""


class _StepCompletion:
    """When a step was confirmed (a fault) or ended (an operation)."""

    def __init__(self) -> None:
        self.reached = OneShotEvent()
        self.at_ns = 0

    def set(self, at_ns: int) -> None:
        self.at_ns = at_ns
        self.reached.set()


class StepRunner:
    """Follows a plan's steps (`follow`), then undoes what they left (`finish`); both are called once.

    `sent` says whose message each value is.
    """

    def __init__(
        self, plan: RunPlan, world: World, recorder: Recorder, progress: ProgressCallback, logs: Path | None
    ) -> None:
        self._plan = plan
        self._world = world
        self._recorder = recorder
        self._reporter = ProgressReporter(progress)
        self._log = None if logs is None else logs / SUBJECT_LOG
        self._client = AsyncExitStack()
        self._subject: Subject | None = None
        self._watch: LagMonitor | None = None
        self._faults: dict[str, ActiveFault] = {}
        self._blackholed_addresses = AsyncExitStack()
        self._open: dict[str, tuple[PlannedOperation, OperationCall]] = {}
        self.sent: dict[bytes, str] = {}
        self._ended: dict[str, OperationStory] = {}
        self._completions = {
            step.alias: _StepCompletion() for step in plan.steps if not isinstance(step, PlannedHealing)
        }
        self._background: list[asyncio.Task[None]] = []
        self._timers: list[asyncio.Task[None]] = []
        self._following: asyncio.Task[None] | None = None
        self._failure: _Failure | None = None
        self._stopped = False
        self.ready_ns: int | None = None
        self.lags_s: tuple[float, ...] = ()

    def operations(self) -> tuple[OperationStory, ...]:
        """In the order of their calls."""
        return tuple(sorted(self._ended.values(), key=lambda operation: operation.started_ns))

    @property
    def unmet(self) -> bool:
        """Whether a step did not end as it has to: nothing after it means what the scenario says."""
        return any(operation.unmet is not None for operation in self._ended.values())

    def faults(self) -> tuple[FaultStory, ...]:
        """In the order of their injection."""
        return tuple(fault.story() for fault in self._faults.values())

    async def follow(self) -> None:
        """Take every step. Ends early where a step's own `expect:` is not met. Raises SubjectError, WorldError."""
        self._following = asyncio.current_task()
        for address in self._plan.client.dark:
            dark = FilterPackets(broker=address, flow="to_broker", verdict=PacketAction.DROP)
            await self._blackholed_addresses.enter_async_context(self._world.pull(dark))
        for step in self._plan.steps:
            await self._wait_for_start(step.when)
            match step:
                case PlannedOperation():
                    await self._run_operation(step)
                case PlannedFault():
                    await self._inject(step)
                case PlannedHealing():
                    self._reporter.report(f"healing {step.alias}")
                    await self._faults[step.alias].heal()
            if self._stopped:
                return
        await asyncio.gather(*self._background)

    async def finish(self) -> _Failure | None:
        """Heal every fault, the last one first, then end the subject. What went wrong with that, if anything did."""
        for task in (*self._background, *self._timers):
            task.cancel()
        await asyncio.gather(*self._background, *self._timers, return_exceptions=True)
        if self._watch is not None:
            self.lags_s = self._watch.end()
        for step, call in tuple(self._open.values()):
            if self._subject is not None:
                self._end(step, self._subject.censored_result(call))
        for fault in reversed(self._faults.values()):
            self._reporter.report(f"healing {fault.step.alias}")
            await self._keep_first_failure(fault.heal())
        await self._keep_first_failure(self._blackholed_addresses.aclose())
        if self._subject is not None:
            if isinstance(self._subject.failure, SubjectError):
                self._failure = self._failure or self._subject.failure
            await self._keep_first_failure(self._client.aclose())
            self._record_event(EventKind.CLIENT_ENDED)
            await self._keep_first_failure(self._record_dials())
            self._subject = None  # it tells us what it does: we would hold each other
        return self._failure

    async def _keep_first_failure(self, work: Coroutine[None, None, None]) -> None:
        """Go on where something fails, and keep the first failure."""
        try:
            await work
        except (SubjectError, WorldError) as failed:
            self._failure = self._failure or failed

    async def _wait_for_start(self, when: StartCondition) -> None:
        since_ns = self._world.now_ns()
        if when.alias is not None:
            completion = self._completions[when.alias]
            await completion.reached.wait()
            since_ns = completion.at_ns
        if when.after_s > 0:
            await sleep_until(self._world, since_ns + round(when.after_s * 1e9))

    async def _inject(self, step: PlannedFault) -> None:
        self._reporter.report(f"injecting {step.alias}")
        fault = self._faults[step.alias] = ActiveFault(step, self._world, self._recorder)
        self._completions[step.alias].set(await fault.pull())
        if step.for_s is not None:
            at_ns = self._completions[step.alias].at_ns + round(step.for_s * 1e9)
            self._timers.append(asyncio.create_task(self._run_in_background(self._heal_at(fault, at_ns))))

    async def _heal_at(self, fault: ActiveFault, at_ns: int) -> None:
        await sleep_until(self._world, at_ns)
        await fault.heal()

    async def _run_operation(self, step: PlannedOperation) -> None:
        began_ns = self._world.now_ns()
        subject = await self._started_subject()
        operation = OPERATIONS[step.operation]
        if operation.op is None:
            self._end(step, OperationResult(started_ns=began_ns, ended_ns=self._world.now_ns(), outcome=Outcome.OK,
                                   stamped="harness"))  # fmt: skip
            return
        call = await self._call(step, subject)
        ending = (
            self._finish_call(step, subject, call) if step.again is None else self._repeat_call(step, subject, call)
        )
        if step.background:
            self._background.append(asyncio.create_task(self._run_in_background(ending)))
        else:
            await ending

    async def _call(self, step: PlannedOperation, subject: Subject) -> OperationCall:
        self._reporter.report(f"{step.operation} {step.alias}" if step.alias != step.operation else step.alias)
        try:
            command = OPERATIONS[step.operation].command(step, self._plan)
        except ValueError as error:
            raise WorldError("plan-unusable", str(error)) from error
        if "value" in command:
            owner = self.sent.setdefault(str(command["value"]).encode(), step.alias)
            if owner != step.alias and self._plan.integrity:
                raise WorldError("plan-unusable", f"`{owner}` and `{step.alias}` send the same value")
        call = await subject.call(step.operation, command)
        self._open[step.alias] = (step, call)
        return call

    async def _repeat_call(self, step: PlannedOperation, subject: Subject, call: OperationCall) -> None:
        """Call anew until a call ends as wanted, or patience is over; the last one's end is the step's."""
        assert step.again is not None
        wanted = OPERATIONS[step.operation].expects[step.again.until]
        first_ns, every_ns = call.started_ns, round(step.again.every_s * 1e9)
        one, number = step, 1
        while True:
            used_s = (call.started_ns - first_ns) / 1e9
            answer = await self._answer(replace(one, give_up_after_s=step.give_up_after_s - used_s), subject, call)
            next_ns = max(call.started_ns + every_ns, self._world.now_ns())
            over = answer.outcome is Outcome.CENSORED or next_ns - first_ns >= step.give_up_after_s * 1e9
            if answer.outcome is wanted or over:
                self._end(one, answer)
                return
            self._record_operation(one, answer, None)
            await sleep_until(self._world, next_ns)
            number += 1
            one = replace(step, alias=call_alias(step.alias, number))
            call = await self._call(one, subject)

    async def _run_in_background(self, work: Coroutine[None, None, None]) -> None:
        """Work beside the steps: its failure stops them."""
        try:
            await work
        except (SubjectError, WorldError) as failed:
            self._failure = self._failure or failed
            self._stop()

    async def _finish_call(self, step: PlannedOperation, subject: Subject, call: OperationCall) -> None:
        answer = await self._answer(step, subject, call)
        self._end(step, answer)
        if step.operation == "close" and answer.outcome is not Outcome.CENSORED:
            await subject.wait_closed()

    async def _answer(self, step: PlannedOperation, subject: Subject, call: OperationCall) -> OperationResult:
        answer = await subject.answer(call, give_up_after_s=step.give_up_after_s)
        driver = self._plan.client.driver
        if driver != "exec" and answer.error_class in _COMMAND_ERRORS:
            raise WorldError("plan-unusable", f"the {driver} client refused `{step.alias}`: {answer.error}")
        if answer.outcome is Outcome.CENSORED:
            self._record_event(EventKind.GAVE_UP, operation=step.alias, limit_s=step.give_up_after_s)
        return answer

    def _end(self, step: PlannedOperation, answer: OperationResult) -> None:
        """The step has ended, with this call."""
        failed = unmet(step, answer)
        self._record_operation(step, answer, failed)
        self._completions[step_alias(step.alias)].set(answer.ended_ns)
        if failed is not None:
            self._record_event(EventKind.STEP_UNMET, operation=step.alias, text=failed)
            self._stop()

    def _record_operation(self, step: PlannedOperation, answer: OperationResult, failed: str | None) -> None:
        """Put a call that has ended into the story."""
        self._open.pop(step.alias, None)
        since = self._recorder.since_origin
        self._ended[step.alias] = OperationStory(
            alias=step.alias,
            operation=step.operation,
            started_ns=since(answer.started_ns),
            ended_ns=since(answer.ended_ns),
            outcome=answer.outcome,
            error=answer.error,
            error_class=answer.error_class,
            stamped=answer.stamped,
            asked_ns=None if answer.asked_ns is None else since(answer.asked_ns),
            partition=answer.partition,
            offset=answer.offset,
            unmet=failed,
        )

    def _stop(self) -> None:
        """Take no further step."""
        self._stopped = True
        if self._following is not None and self._following is not asyncio.current_task():
            self._following.cancel()

    async def _started_subject(self) -> Subject:
        if self._subject is None:
            self._reporter.report("starting the client")
            self._record_event(EventKind.CLIENT_STARTED)
            started = Subject.started(self._plan, self._world, self._on_subject_event, self._log)
            self._subject = await self._client.enter_async_context(started)
            self.ready_ns = self._subject.ready_ns
            self._recorder.record_event("conductor", self.ready_ns, EventKind.CLIENT_READY, {})
            # Starting a process makes the loop late by itself: the watch begins behind it.
            self._watch = self._world.monitor_lag()
        return self._subject

    def _on_subject_event(self, at_ns: int, kind: str, fields: Mapping[str, Value]) -> None:
        self._recorder.record_event("subject", at_ns, kind, fields)
        if kind in REPORTED_KINDS:
            self._reporter.on_trace_event(kind, fields)

    async def _record_dials(self) -> None:
        """What a program dialled stands on the wire; the bundled client tells all that it does."""
        if self._plan.client.driver == "bundled":
            return
        for dial in self._world.dials():
            fields: dict[str, Value] = {"address": dial.address, "connection": dial.port}
            self._recorder.record_event("wire", dial.at_ns, EventKind.DIAL_SEEN, fields)

    def _record_event(self, kind: EventKind, **fields: Value) -> None:
        self._recorder.record_event("conductor", self._world.now_ns(), kind, fields)
