"""What a suite is doing: counts, what is under way and since when, and how much is left by the formulas.

Prints nothing: a display asks for snapshots. Lanes (threads) report to it, so everything is under one lock.
"""

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from harness.plan import RunPlan
from harness.records.run import RunRecord, Verdict

OVERHEAD = 1.3
"""A suite takes at most this times the larger of its longest run and its cell-seconds divided by its lanes."""


@dataclass(frozen=True, slots=True)
class ActiveRun:
    """A run that is under way, what it says that it does, and since when it says anything (`time.monotonic`).

    Until its world is open, and while it waits for its turn to open one, it says nothing and `since_s` is None.
    """

    plan: RunPlan
    doing: str = "starting"
    since_s: float | None = None

    @property
    def elapsed_s(self) -> float:
        return 0.0 if self.since_s is None else time.monotonic() - self.since_s


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The suite at one moment. `ended_by_subject` counts those of `verdicts` that the lab did not end; `active_runs` is
    in the order of starting; `remaining_s` None where a run has no formula."""

    total: int
    ended: int
    verdicts: Counter[Verdict]
    ended_by_subject: int
    active_runs: tuple[ActiveRun, ...]
    remaining_s: float | None


class SuiteProgress:
    """Follows a suite."""

    def __init__(self, plans: Sequence[RunPlan], *, lanes: int, previous_runs: Iterable[RunRecord] = ()) -> None:
        self._lock = Lock()
        self._lanes = lanes
        self._waiting = {plan.run_id: plan for plan in plans}
        self._under_way: dict[str, ActiveRun] = {}
        self._ended: dict[str, tuple[Verdict, bool]] = {}
        for record in previous_runs:
            self._ended[record.run_id] = record.verdict, record.ended_by_subject
        self._total = len(self._ended.keys() | self._waiting.keys())

    def started(self, plan: RunPlan) -> None:
        with self._lock:
            self._waiting.pop(plan.run_id, None)
            self._under_way[plan.run_id] = ActiveRun(plan)

    def doing(self, plan: RunPlan, words: str) -> None:
        with self._lock:
            run = self._under_way.get(plan.run_id)
            if run is not None:
                since_s = time.monotonic() if run.since_s is None else run.since_s
                self._under_way[plan.run_id] = ActiveRun(plan, words, since_s)

    def ended(self, plan: RunPlan, record: RunRecord) -> None:
        with self._lock:
            self._under_way.pop(plan.run_id, None)
            self._ended[plan.run_id] = record.verdict, record.ended_by_subject

    def postponed(self, plan: RunPlan) -> None:
        """This try does not count: the run is tried again later."""
        with self._lock:
            self._under_way.pop(plan.run_id, None)
            self._waiting[plan.run_id] = plan

    def snapshot(self) -> Snapshot:
        with self._lock:
            lengths: list[float | None] = [plan.expected_s for plan in self._waiting.values()]
            for run in self._under_way.values():
                whole = run.plan.expected_s
                lengths.append(None if whole is None else max(0.0, whole - run.elapsed_s))
            return Snapshot(
                total=self._total,
                ended=len(self._ended),
                verdicts=Counter(verdict for verdict, _ in self._ended.values()),
                ended_by_subject=sum(by_subject for _, by_subject in self._ended.values()),
                active_runs=tuple(self._under_way.values()),
                remaining_s=max_duration_s(lengths, lanes=self._lanes),
            )


def max_duration_s(lengths_s: Sequence[float | None], *, lanes: int) -> float | None:
    """How long runs of these lengths take side by side, longest first: an upper bound. None where one is unknown."""
    known = [length for length in lengths_s if length is not None]
    if len(known) < len(lengths_s):
        return None
    return OVERHEAD * max(max(known, default=0.0), sum(known) / lanes)
