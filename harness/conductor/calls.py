"""The client of a run and the operations that it is asked for: each call, its end, and calls that are repeated."""

from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from client.events import TraceKind
from harness.conductor.moments import Moments, sleep_until
from harness.conductor.progress import REPORTED_KINDS, ProgressReporter
from harness.conductor.recorder import Recorder
from harness.conductor.step_outcome import unmet
from harness.conductor.tasks import RunTasks
from harness.drivers import OperationCall, OperationResult, ProtocolViolation, Subject, SubjectError
from harness.environments.world import LagMonitor, World, WorldError
from harness.operations import OPERATIONS
from harness.operations.base import HANDLE
from harness.plan import PlannedOperation, RunPlan, call_alias, step_alias
from harness.story import EventKind, OperationStory, Outcome, Value

SUBJECT_LOG = "subject.log"
_COMMAND_ERRORS = ("CommandError", "SettingError")
"""Classes of our own clients' errors that come from the lab's command, not from the real client's behaviour."""
_NO_REFUSAL = (EventKind.FAULT_BEGAN.value, TraceKind.DIAL_STARTED.value)
"""Events before which a client that cannot be constructed has only its settings to blame."""
_CONFIGURATION_ERRORS = ("ConfigurationError", "KafkaConfigurationError", "ConfigException")
"""Classes of Sarama, kafka-python and Kafka's Java client for settings that they refuse, some of them after a dial."""


class ClientCalls:
    """Starts the client with its first operation, and calls its operations.

    `sent` maps each value to the call that sent it. `ready_ns` is when the client was ready, `lags_s` how late the
    world's timers came from then on.
    """

    def __init__(
        self,
        *,
        plan: RunPlan,
        world: World,
        recorder: Recorder,
        reporter: ProgressReporter,
        moments: Moments,
        tasks: RunTasks,
        logs: Path | None,
    ) -> None:
        self._plan = plan
        self._world = world
        self._recorder = recorder
        self._reporter = reporter
        self._moments = moments
        self._tasks = tasks
        self._log = None if logs is None else logs / SUBJECT_LOG
        self._client = AsyncExitStack()
        self._subject: Subject | None = None
        self._lag_monitor: LagMonitor | None = None
        self._open: dict[str, tuple[PlannedOperation, OperationCall]] = {}
        self._ended: dict[str, OperationStory] = {}
        self.sent: dict[bytes, str] = {}
        self.ready_ns: int | None = None
        self.lags_s: tuple[float, ...] = ()

    def stories(self) -> tuple[OperationStory, ...]:
        """In the order of their calls."""
        return tuple(sorted(self._ended.values(), key=lambda operation: operation.started_ns))

    @property
    def unmet(self) -> bool:
        """Whether a step did not end as its `expect:` says. What follows such a step tests nothing."""
        return any(operation.unmet is not None for operation in self._ended.values())

    async def begin(self, step: PlannedOperation) -> Coroutine[None, None, None]:
        """Call the operation. Returns the work that is left: to wait for its end. Raises SubjectError, WorldError."""
        began_ns = self._world.now_ns()
        subject = await self._started_subject()
        if OPERATIONS[step.operation].op is None:
            return self._end_uncalled(step, began_ns)
        call = await self._call(step, subject)
        return self._finish(step, subject, call) if step.again is None else self._repeat(step, subject, call)

    def censor_open_calls(self) -> None:
        """Stop measuring lag, and record every call that has not ended by now as censored."""
        if self._lag_monitor is not None:
            self.lags_s = self._lag_monitor.end()
        for step, call in tuple(self._open.values()):
            if self._subject is not None:  # cut short by the run's end: its own `expect:` could not be met
                self._record_operation(step, self._subject.censored_result(call), None)

    async def end_client(self) -> None:
        """End the client where it was started. The run keeps the first failure."""
        if self._subject is None:
            return
        if isinstance(self._subject.failure, SubjectError):
            self._tasks.failure = self._tasks.failure or self._subject.failure
        await self._tasks.keep_failure(self._client.aclose())
        self._record_event(EventKind.CLIENT_ENDED)
        await self._tasks.keep_failure(self._record_dials())
        self._subject = None  # it calls us with its events: otherwise a reference cycle

    async def _end_uncalled(self, step: PlannedOperation, began_ns: int) -> None:
        """An operation that only starts the client ends at once."""
        ended_ns = self._world.now_ns()
        self._end(step, OperationResult(started_ns=began_ns, ended_ns=ended_ns, outcome=Outcome.OK, stamped="harness"))

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
        self._recorder.sample_delays(self._world)
        call = await subject.call(step.operation, command)
        self._open[step.alias] = (step, call)
        return call

    async def _finish(self, step: PlannedOperation, subject: Subject, call: OperationCall) -> None:
        result = await self._result(step, subject, call)
        if self._refuses_settings(step, result):
            self._record_operation(step, result, None)
            text = f"{result.error}: the client refuses its settings: `{step.alias}` failed before any fault"
            raise SubjectError(ProtocolViolation.REFUSES_SETTINGS, text)
        self._end(step, result)
        closes = OPERATIONS[step.operation].closes and HANDLE.name not in step.arguments
        if closes and result.outcome is not Outcome.CENSORED:
            await subject.wait_closed()

    def _refuses_settings(self, step: PlannedOperation, result: OperationResult) -> bool:
        """Whether the client could not be constructed though no fault was in its way, and it had not tried the network
        or says itself that its settings are why: where that is not what the scenario is about, the set-up is wrong."""
        if not OPERATIONS[step.operation].constructs or result.outcome is not Outcome.FAILED:
            return False
        if step.expect == "failed" or self._plan.expects_of(step.alias):
            return False
        happened = {event.kind for event in self._recorder.events()}
        if result.error_class in _CONFIGURATION_ERRORS:
            return EventKind.FAULT_BEGAN not in happened
        return happened.isdisjoint(_NO_REFUSAL) and not self._world.dials()

    async def _repeat(self, step: PlannedOperation, subject: Subject, call: OperationCall) -> None:
        """Call again until a call ends as wanted or the lab gives up. The step ends with the last call."""
        assert step.again is not None
        wanted = OPERATIONS[step.operation].expects[step.again.until]
        first_ns, every_ns = call.started_ns, round(step.again.every_s * 1e9)
        one, number = step, 1
        while True:
            used_s = (call.started_ns - first_ns) / 1e9
            result = await self._result(replace(one, give_up_after_s=step.give_up_after_s - used_s), subject, call)
            next_ns = max(call.started_ns + every_ns, self._world.now_ns())
            over = result.outcome is Outcome.CENSORED or next_ns - first_ns >= step.give_up_after_s * 1e9
            if result.outcome is wanted or over:
                self._end(one, result)
                return
            self._record_operation(one, result, None)
            await sleep_until(self._world, next_ns)
            number += 1
            one = replace(step, alias=call_alias(step.alias, number))
            call = await self._call(one, subject)

    async def _result(self, step: PlannedOperation, subject: Subject, call: OperationCall) -> OperationResult:
        result = await subject.result_of(call, give_up_after_s=step.give_up_after_s)
        driver = self._plan.client.driver
        if driver != "exec" and result.error_class in _COMMAND_ERRORS:
            self._open.pop(step.alias)
            self._require_connected(step)
            raise WorldError("plan-unusable", f"{result.error}: the {driver} client refused `{step.alias}`")
        if result.outcome is Outcome.CENSORED:
            self._record_event(EventKind.GAVE_UP, operation=step.alias, limit_s=step.give_up_after_s)
        return result

    def _require_connected(self, step: PlannedOperation) -> None:
        """Raises SubjectError where the last step that should have constructed what this one works with has failed."""
        handle = step.arguments.get(HANDLE.name)
        made = [
            one
            for one in self._plan.steps
            if isinstance(one, PlannedOperation) and one.alias in self._ended
            and OPERATIONS[one.operation].constructs and one.arguments.get(HANDLE.name) == handle
        ]  # fmt: skip
        if not made or self._ended[made[-1].alias].outcome is not Outcome.FAILED:
            return
        failed, error = made[-1], self._ended[made[-1].alias].error
        text = (
            f"`{failed.alias}` (line {failed.line}) failed, so `{step.alias}` (line {step.line}) has no client to work"
            f" with: {error}; connect before the fault, or add `expect: ok` to line {failed.line} to fail the run there"
        )
        raise SubjectError(ProtocolViolation.NOT_CONNECTED, text)

    def _end(self, step: PlannedOperation, result: OperationResult) -> None:
        """The step has ended, with this call."""
        failed = unmet(step, result)
        self._record_operation(step, result, failed)
        self._moments.reach(step_alias(step.alias), result.ended_ns)
        if failed is not None:
            self._record_event(EventKind.STEP_UNMET, operation=step.alias, text=failed)
            self._tasks.stop()

    def _record_operation(self, step: PlannedOperation, result: OperationResult, failed: str | None) -> None:
        """Record a call that has ended."""
        self._recorder.sample_delays(self._world)
        self._open.pop(step.alias, None)
        since = self._recorder.since_origin
        self._ended[step.alias] = OperationStory(
            alias=step.alias,
            operation=step.operation,
            started_ns=since(result.started_ns),
            ended_ns=since(result.ended_ns),
            outcome=result.outcome,
            error=result.error,
            error_class=result.error_class,
            stamped=result.stamped,
            asked_ns=None if result.asked_ns is None else since(result.asked_ns),
            result=result.result,
            unmet=failed,
        )

    async def _started_subject(self) -> Subject:
        if self._subject is None:
            self._reporter.report("starting the client")
            self._record_event(EventKind.CLIENT_STARTED)
            started = Subject.started(self._plan, self._world, self._on_subject_event, self._log)
            self._subject = await self._client.enter_async_context(started)
            self.ready_ns = self._subject.ready_ns
            self._recorder.record_event("conductor", self.ready_ns, EventKind.CLIENT_READY, {})
            # Starting a process makes the loop late by itself, so lag is measured from here on.
            self._lag_monitor = self._world.monitor_lag()
        return self._subject

    def _on_subject_event(self, at_ns: int, kind: str, fields: Mapping[str, Value]) -> None:
        self._recorder.record_event("subject", at_ns, kind, fields)
        if kind in REPORTED_KINDS:
            self._reporter.on_trace_event(kind, fields)

    async def _record_dials(self) -> None:
        """Record the dials that the wire showed; the bundled client's own trace has all of its dials."""
        if self._plan.client.driver == "bundled":
            return
        for dial in self._world.dials():
            fields: dict[str, Value] = {"address": dial.address, "connection": dial.port}
            self._recorder.record_event("wire", dial.at_ns, EventKind.DIAL_SEEN, fields)
        for span in self._world.wire_spans():
            fields = {"address": span.address, "connection": span.port, "purpose": span.what}
            self._recorder.record_event("wire", span.began_ns, EventKind.WIRE_STARTED, fields)
            if span.ended_ns is not None:
                ended = {**fields, "outcome": span.outcome}
                self._recorder.record_event("wire", span.ended_ns, EventKind.WIRE_ENDED, ended)

    def _record_event(self, kind: EventKind, **fields: Value) -> None:
        self._recorder.record_event("conductor", self._world.now_ns(), kind, fields)
