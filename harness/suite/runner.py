"""Runs the plans of a suite side by side, longest first, and writes each result as its run ends.

The main thread only waits, so that a signal is acted upon at once; lanes are threads that carry runs out.
Runs that were too noisy to judge are tried again at the end: with few others beside them, then alone.
"""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Protocol

from harness.environments.world import Environment, RunInterrupted
from harness.plan import RunPlan
from harness.records.run import RunRecord
from harness.suite.one_run import Judge, carry_out

MAX_ATTEMPTS = 3
"""A run is tried at most so often: beside others, beside few, alone."""

FEWER = 8
"""The second try has so many times fewer lanes. A suite on a machine that is noisy all the time, with hundreds of runs
to try again, would take many times as long with one lane, and be judged no better."""

INTERRUPTED = 130

SIGNAL_POLL_S = 0.2
"""How long a signal may go unnoticed that comes just before the main thread begins to wait."""


class RunWriter(Protocol):
    """Where runs are written to as they end: `harness.records.writer.Writer`, or several of them."""

    def write_lines(self, run: RunRecord, events: bytes) -> None: ...

    def create_log_folder(self, run_id: str, attempt: int) -> Path: ...

    def remove_empty_logs(self, run_id: str, attempt: int) -> None: ...


class Observer(Protocol):
    """Is notified of a suite's progress: `started` and `doing` from the lanes, the others from the main thread."""

    def started(self, plan: RunPlan) -> None: ...

    def doing(self, plan: RunPlan, words: str) -> None: ...

    def ended(self, plan: RunPlan, record: RunRecord) -> None: ...

    def stopping(self) -> None:
        """A signal came: the runs under way are being ended."""
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
    """Runs plans in an environment that is entered, once."""

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

    def run(self, plans: Sequence[RunPlan], *, retries: Sequence[RunPlan] = ()) -> bool:
        """Run them all, then `retries` with those that turn out to be noisy.

        True when all have ended; False when a signal stopped the suite: what had ended by then is written.
        Raises ResultsUnwritable. The runs of a suite that does not go to its end are interrupted.
        """
        with self._signals():
            noisy = [*retries, *self._side_by_side(plans, self.lanes)]
            second = [plan for plan in noisy if plan.attempt < MAX_ATTEMPTS]
            last = [plan for plan in noisy if plan.attempt >= MAX_ATTEMPTS]
            self._side_by_side([*last, *self._side_by_side(second, max(1, self.lanes // FEWER))], 1)
        return not self._stopped.is_set()

    def _side_by_side(self, plans: Sequence[RunPlan], lanes: int) -> list[RunPlan]:
        """Run these, longest first, and wait for all. Gives the noisy ones back, each as its next try."""
        with ThreadPoolExecutor(lanes, thread_name_prefix="lane") as pool:
            try:
                for plan in longest_first(plans):
                    pool.submit(self._lane, plan)
                return self._noisy_of(len(plans))
            except BaseException:
                self._stop()
                raise

    def _noisy_of(self, waiting: int) -> list[RunPlan]:
        """Wait for the ends of so many runs."""
        retries: list[RunPlan] = []
        while waiting:
            message = self._next_message()
            if self._signalled and not self._stopped.is_set():  # before the runs that ended first: they may be many
                self._observer.stopping()
                self._stop()
            if isinstance(message, _Signalled):
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
        """One run from start to record, in a lane. Every call puts exactly one message."""
        if self._stopped.is_set() or self._failed.is_set():
            self._messages.put(_NotRecorded())
            return
        try:
            self._messages.put(_Ended(plan, self._run_and_record(plan)))
        except RunInterrupted:
            self._messages.put(_NotRecorded())
        except BaseException as error:  # noqa: BLE001  (raised again in the main thread)
            self._failed.set()  # no lane starts a run whose record cannot be kept either
            self._messages.put(_NotRecorded(error))

    def _run_and_record(self, plan: RunPlan) -> RunRecord:
        self._observer.started(plan)
        result = carry_out(
            plan,
            self._environment,
            self._judge,
            progress=lambda words: self._observer.doing(plan, words),
            make_log_folder=lambda plan: self._writer.create_log_folder(plan.run_id, plan.attempt),
        )
        if self._stopped.is_set() and result.record.error is not None:
            raise RunInterrupted  # its world was being ended: the error says nothing
        self._writer.write_lines(result.record, result.events)
        self._writer.remove_empty_logs(plan.run_id, plan.attempt)
        return result.record

    def _stop(self) -> None:
        if not self._stopped.is_set():
            self._stopped.set()
            self._environment.interrupt()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """A first signal ends the suite in good order; a second one at once (nothing of ours survives its parent)."""

        def on_signal(number: int, frame: FrameType | None) -> None:
            if self._stopped.is_set():
                os._exit(INTERRUPTED)
            self._signalled = True
            self._messages.put(_Signalled())  # wakes the main thread

        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        # Who started this with a signal ignored (nohup, a script's background job) does not want it to end the suite.
        taken = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
        for number in taken:
            signal.signal(number, on_signal)
        try:
            yield
        finally:
            for number, handler in taken.items():
                signal.signal(number, handler)


def longest_first(plans: Sequence[RunPlan]) -> list[RunPlan]:
    """The order in which the last lane is idle for the shortest time; unknown lengths count as the longest."""
    return sorted(plans, key=lambda plan: -(plan.limit_s if plan.expected_s is None else plan.expected_s))
