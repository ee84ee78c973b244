"""The steps of a run in time: each starts in its order and at its moment, operations and `for:` run on beside them."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from harness.conductor.faults import ActiveFault, sleep_until
from harness.conductor.progress import MEAN_SOMETHING, Telling
from harness.conductor.recorder import Recorder
from harness.conductor.unmet import unmet
from harness.drivers import Answer, Call, Subject, SubjectError
from harness.environments.world import Progress, Watch, World, WorldError
from harness.levers import Packets, Verdict
from harness.once import Once
from harness.operations import OPERATIONS
from harness.plan import Do, Heal, Inject, RunPlan, When, nth_call, step_of
from harness.story import FaultStory, OperationStory, Outcome, Told, Value

SUBJECT_LOG = "subject.log"
_Failure = SubjectError | WorldError
_REFUSALS = ("CommandError", "SettingError")
"""Classes of our own clients' errors that come from the lab's command, not from the real client's behaviour."""


class _Moment:
    """When a step was confirmed (a fault) or ended (an operation)."""

    def __init__(self) -> None:
        self.come = Once()
        self.at_ns = 0

    def set(self, at_ns: int) -> None:
        self.at_ns = at_ns
        self.come.set()


class Steps:
    """Follows a plan's steps (`follow`), then undoes what they left (`finish`); both are called once.

    `sent` says whose message each value is.
    """

    def __init__(self, plan: RunPlan, world: World, recorder: Recorder, progress: Progress, logs: Path | None) -> None:
        self._plan = plan
        self._world = world
        self._recorder = recorder
        self._telling = Telling(progress)
        self._log = None if logs is None else logs / SUBJECT_LOG
        self._client = AsyncExitStack()
        self._subject: Subject | None = None
        self._watch: Watch | None = None
        self._faults: dict[str, ActiveFault] = {}
        self._no_members = AsyncExitStack()
        self._open: dict[str, tuple[Do, Call]] = {}
        self.sent: dict[bytes, str] = {}
        self._ended: dict[str, OperationStory] = {}
        self._moments = {step.alias: _Moment() for step in plan.steps if not isinstance(step, Heal)}
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
            dark = Packets(broker=address, flow="to_broker", verdict=Verdict.DROP)
            await self._no_members.enter_async_context(self._world.pull(dark))
        for step in self._plan.steps:
            await self._until(step.when)
            match step:
                case Do():
                    await self._do(step)
                case Inject():
                    await self._inject(step)
                case Heal():
                    self._telling.say(f"healing {step.alias}")
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
                self._end(step, self._subject.censored(call))
        for fault in reversed(self._faults.values()):
            self._telling.say(f"healing {fault.step.alias}")
            await self._kept(fault.heal())
        await self._kept(self._no_members.aclose())
        if self._subject is not None:
            if isinstance(self._subject.failure, SubjectError):
                self._failure = self._failure or self._subject.failure
            await self._kept(self._client.aclose())
            self._tell(Told.CLIENT_ENDED)
            await self._kept(self._tell_dials())
            self._subject = None  # it tells us what it does: we would hold each other
        return self._failure

    async def _kept(self, work: Coroutine[None, None, None]) -> None:
        """Go on where something fails, and keep the first failure."""
        try:
            await work
        except (SubjectError, WorldError) as failed:
            self._failure = self._failure or failed

    async def _until(self, when: When) -> None:
        since_ns = self._world.now_ns()
        if when.alias is not None:
            moment = self._moments[when.alias]
            await moment.come.wait()
            since_ns = moment.at_ns
        if when.after_s > 0:
            await sleep_until(self._world, since_ns + round(when.after_s * 1e9))

    async def _inject(self, step: Inject) -> None:
        self._telling.say(f"injecting {step.alias}")
        fault = self._faults[step.alias] = ActiveFault(step, self._world, self._recorder)
        self._moments[step.alias].set(await fault.pull())
        if step.for_s is not None:
            at_ns = self._moments[step.alias].at_ns + round(step.for_s * 1e9)
            self._timers.append(asyncio.create_task(self._beside(self._heal_at(fault, at_ns))))

    async def _heal_at(self, fault: ActiveFault, at_ns: int) -> None:
        await sleep_until(self._world, at_ns)
        await fault.heal()

    async def _do(self, step: Do) -> None:
        began_ns = self._world.now_ns()
        subject = await self._started_subject()
        operation = OPERATIONS[step.operation]
        if operation.op is None:
            self._end(step, Answer(started_ns=began_ns, ended_ns=self._world.now_ns(), outcome=Outcome.OK,
                                   stamped="harness"))  # fmt: skip
            return
        call = await self._call(step, subject)
        ending = self._ending(step, subject, call) if step.again is None else self._again(step, subject, call)
        if step.background:
            self._background.append(asyncio.create_task(self._beside(ending)))
        else:
            await ending

    async def _call(self, step: Do, subject: Subject) -> Call:
        self._telling.say(f"{step.operation} {step.alias}" if step.alias != step.operation else step.alias)
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

    async def _again(self, step: Do, subject: Subject, call: Call) -> None:
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
            self._keep(one, answer, None)
            await sleep_until(self._world, next_ns)
            number += 1
            one = replace(step, alias=nth_call(step.alias, number))
            call = await self._call(one, subject)

    async def _beside(self, work: Coroutine[None, None, None]) -> None:
        """Work beside the steps: its failure stops them."""
        try:
            await work
        except (SubjectError, WorldError) as failed:
            self._failure = self._failure or failed
            self._stop()

    async def _ending(self, step: Do, subject: Subject, call: Call) -> None:
        answer = await self._answer(step, subject, call)
        self._end(step, answer)
        if step.operation == "close" and answer.outcome is not Outcome.CENSORED:
            await subject.closed()

    async def _answer(self, step: Do, subject: Subject, call: Call) -> Answer:
        answer = await subject.answer(call, give_up_after_s=step.give_up_after_s)
        driver = self._plan.client.driver
        if driver != "exec" and answer.error_class in _REFUSALS:
            raise WorldError("plan-unusable", f"the {driver} client refused `{step.alias}`: {answer.error}")
        if answer.outcome is Outcome.CENSORED:
            self._tell(Told.GAVE_UP, operation=step.alias, limit_s=step.give_up_after_s)
        return answer

    def _end(self, step: Do, answer: Answer) -> None:
        """The step has ended, with this call."""
        failed = unmet(step, answer)
        self._keep(step, answer, failed)
        self._moments[step_of(step.alias)].set(answer.ended_ns)
        if failed is not None:
            self._tell(Told.STEP_UNMET, operation=step.alias, text=failed)
            self._stop()

    def _keep(self, step: Do, answer: Answer, failed: str | None) -> None:
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
            self._telling.say("starting the client")
            self._tell(Told.CLIENT_STARTED)
            started = Subject.started(self._plan, self._world, self._told_by_subject, self._log)
            self._subject = await self._client.enter_async_context(started)
            self.ready_ns = self._subject.ready_ns
            self._recorder.tell("conductor", self.ready_ns, Told.CLIENT_READY, {})
            # Starting a process makes the loop late by itself: the watch begins behind it.
            self._watch = self._world.watch()
        return self._subject

    def _told_by_subject(self, at_ns: int, kind: str, fields: Mapping[str, Value]) -> None:
        self._recorder.tell("subject", at_ns, kind, fields)
        if kind in MEAN_SOMETHING:
            self._telling.trace(kind, fields)

    async def _tell_dials(self) -> None:
        """What a program dialled stands on the wire; the bundled client tells all that it does."""
        if self._plan.client.driver == "bundled":
            return
        for dial in self._world.dials():
            fields: dict[str, Value] = {"address": dial.address, "connection": dial.port}
            self._recorder.tell("wire", dial.at_ns, Told.DIAL_SEEN, fields)

    def _tell(self, kind: Told, **fields: Value) -> None:
        self._recorder.tell("conductor", self._world.now_ns(), kind, fields)
