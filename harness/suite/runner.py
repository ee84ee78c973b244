"""Runs the plans of a suite side by side, longest first, and writes each result as its run ends.

The main thread only waits, so that a signal is acted upon at once; lanes are threads in which `Environment.run` blocks.
Runs that were too noisy to judge are tried again at the end, alone.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Protocol

from harness.environments.world import Environment, RunInterrupted
from harness.judging import Judgement
from harness.plan import RunPlan
from harness.records.run import RunRecord
from harness.story import Story
from harness.suite.lab_failure import failed_story
from harness.suite.machine import wall_clock
from harness.suite.recording import event_lines, run_record

MAX_ATTEMPTS = 3
"""A run is tried at most so often: once beside others, then alone."""

INTERRUPTED = 130

SIGNAL_POLL_S = 0.2
"""How long a signal may go unnoticed that comes just before the main thread begins to wait."""

Judge = Callable[[RunPlan, Story], Judgement]


class RunWriter(Protocol):
    """Where runs are written to as they end: `harness.records.writer.Writer`, or several of them."""

    def write_lines(self, run: RunRecord, events: bytes) -> None: ...

    def create_log_folder(self, run_id: str, attempt: int) -> Path: ...

    def remove_empty_logs(self, run_id: str, attempt: int) -> None: ...


class Observer(Protocol):
    """Told what happens. `started` and `doing` come from the lanes, the others from the main thread."""

    def started(self, plan: RunPlan) -> None: ...

    def doing(self, plan: RunPlan, words: str) -> None: ...

    def ended(self, plan: RunPlan, record: RunRecord) -> None: ...

    def stopping(self) -> None:
        """A signal said stop: the runs under way are being ended."""
        ...


@dataclass(frozen=True, slots=True)
class _Ended:
    plan: RunPlan
    record: RunRecord


@dataclass(frozen=True, slots=True)
class _NotRecorded:
    """A run that left no record: it was interrupted (`error` is None), or its record could not be written."""

    error: BaseException | None = None


class _Signalled:
    """SIGINT, SIGTERM or SIGHUP came."""


class Runner:
    """Runs plans in an environment that is open, once."""

    def __init__(
        self, environment: Environment, judge: Judge, writer: RunWriter, observer: Observer, *, lanes: int | None = None
    ) -> None:
        """`lanes`: at most so many side by side; the environment's own number where it is less or None is given."""
        self.lanes = environment.lanes if lanes is None else max(1, min(lanes, environment.lanes))
        self._environment = environment
        self._judge = judge
        self._writer = writer
        self._observer = observer
        self._messages: SimpleQueue[_Ended | _NotRecorded | _Signalled] = SimpleQueue()
        self._stopped = threading.Event()
        self._failed = threading.Event()
        self._signalled = False

    def run(self, plans: Sequence[RunPlan]) -> bool:
        """Run them all; those whose `attempt` is above 1 alone, after the others.

        True when all have ended; False when a signal stopped the suite: what had ended by then is written.
        Raises ResultsUnwritable. The environment is closed in every case.
        """
        alone = [plan for plan in plans if plan.attempt > 1]
        with ThreadPoolExecutor(self.lanes, thread_name_prefix="lane") as lanes, self._signals():
            try:
                alone += self._side_by_side(longest_first(p for p in plans if p.attempt == 1), lanes)
                while alone:
                    alone = alone[1:] + self._side_by_side(alone[:1], lanes)
            finally:
                self._stop()
        return not self._signalled

    def _side_by_side(self, plans: Sequence[RunPlan], lanes: ThreadPoolExecutor) -> list[RunPlan]:
        """Run these and wait for all. Gives the noisy ones back, each as its next try."""
        retries: list[RunPlan] = []
        for plan in plans:
            lanes.submit(self._lane, plan)
        waiting = len(plans)
        while waiting:
            message = self._next_message()
            if isinstance(message, _Signalled):
                if not self._signalled:
                    self._signalled = True
                    self._observer.stopping()
                    self._stop()
                continue
            waiting -= 1
            if isinstance(message, _Ended):
                self._observer.ended(message.plan, message.record)
                if message.record.noisy and message.plan.attempt < MAX_ATTEMPTS:
                    retries.append(replace(message.plan, attempt=message.plan.attempt + 1))
            elif message.error is not None:
                raise message.error
        return retries

    def _next_message(self) -> _Ended | _NotRecorded | _Signalled:
        """Waits in slices: a signal that comes just before the wait begins does not end it, and its handler runs only
        when this thread is awake."""
        while True:
            with suppress(Empty):
                return self._messages.get(timeout=SIGNAL_POLL_S)

    def _lane(self, plan: RunPlan) -> None:
        """One run from start to record, in a lane. Every call leaves exactly one piece of news."""
        if self._stopped.is_set() or self._failed.is_set():
            self._messages.put(_NotRecorded())
            return
        try:
            self._messages.put(_Ended(plan, self._run_and_record(plan)))
        except RunInterrupted:
            self._messages.put(_NotRecorded())
        except BaseException as error:  # noqa: BLE001  (a lane has nobody else to tell)
            self._failed.set()  # until this is heard, no lane begins a run whose record cannot be kept either
            self._messages.put(_NotRecorded(error))

    def _run_and_record(self, plan: RunPlan) -> RunRecord:
        self._observer.started(plan)
        # A simulated run has no process, so nothing that could leave a log.
        logs = None if self._environment.name == "sim" else self._writer.create_log_folder(plan.run_id, plan.attempt)
        started_at, started = wall_clock(), time.monotonic()
        try:
            story = self._environment.run(plan, lambda words: self._observer.doing(plan, words), logs)
        except RunInterrupted:
            raise
        except Exception as error:
            if self._stopped.is_set():
                raise RunInterrupted from error
            story = failed_story(plan, error, self._writer.create_log_folder(plan.run_id, plan.attempt))
        record = run_record(
            plan,
            story,
            self._judge(plan, story),
            started_at=started_at,
            duration_s=time.monotonic() - started,
        )
        self._writer.write_lines(record, event_lines(plan, story))
        self._writer.remove_empty_logs(plan.run_id, plan.attempt)
        return record

    def _stop(self) -> None:
        if not self._stopped.is_set():
            self._stopped.set()
            self._environment.close()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """A first signal ends the suite in good order; a second one at once (nothing of ours survives its parent)."""

        def on_signal(number: int, frame: FrameType | None) -> None:
            if self._stopped.is_set():
                os._exit(INTERRUPTED)
            self._messages.put(_Signalled())

        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = [signal.signal(number, on_signal) for number in numbers]
        try:
            yield
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)


def longest_first(plans: Sequence[RunPlan] | Iterator[RunPlan]) -> list[RunPlan]:
    """The order in which the last lane is idle for the shortest time; unknown lengths count as the longest."""
    return sorted(plans, key=lambda plan: -(plan.limit_s if plan.expected_s is None else plan.expected_s))
