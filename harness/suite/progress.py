"""What a suite is doing: counts, what is under way and since when, and how much is left by the formulas.

No printing here: a display asks. Told by lanes (threads), asked by the display: everything is under one lock.
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
class UnderWay:
    """A run that is under way: since when (`time.monotonic`), and what it says that it does."""

    plan: RunPlan
    since_s: float
    doing: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The suite at one moment. `under_way` is in the order of starting; `left_s` None where a run has no formula."""

    total: int
    ended: int
    verdicts: Counter[Verdict]
    under_way: tuple[UnderWay, ...]
    left_s: float | None


class Progress:
    """Follows a suite. `again` counts nothing: a try after noise replaces the one before."""

    def __init__(self, plans: Sequence[RunPlan], *, lanes: int, already: Iterable[RunRecord] = ()) -> None:
        self._lock = Lock()
        self._lanes = lanes
        self._waiting = {plan.run_id: plan for plan in plans}
        self._under_way: dict[str, UnderWay] = {}
        self._verdicts: dict[str, Verdict] = {record.run_id: record.verdict for record in already}
        self._total = len(self._verdicts.keys() | self._waiting.keys())

    def started(self, plan: RunPlan) -> None:
        with self._lock:
            self._waiting.pop(plan.run_id, None)
            self._under_way[plan.run_id] = UnderWay(plan, time.monotonic(), "starting")

    def doing(self, plan: RunPlan, words: str) -> None:
        with self._lock:
            run = self._under_way.get(plan.run_id)
            if run is not None:
                self._under_way[plan.run_id] = UnderWay(plan, run.since_s, words)

    def ended(self, plan: RunPlan, record: RunRecord) -> None:
        with self._lock:
            self._under_way.pop(plan.run_id, None)
            self._verdicts[plan.run_id] = record.verdict

    def snapshot(self) -> Snapshot:
        now = time.monotonic()
        with self._lock:
            lengths: list[float | None] = [plan.expected_s for plan in self._waiting.values()]
            for run in self._under_way.values():
                whole = run.plan.expected_s
                lengths.append(None if whole is None else max(0.0, whole - (now - run.since_s)))
            return Snapshot(
                total=self._total,
                ended=sum(run_id not in self._under_way and run_id not in self._waiting for run_id in self._verdicts),
                verdicts=Counter(self._verdicts.values()),
                under_way=tuple(self._under_way.values()),
                left_s=at_most(lengths, lanes=self._lanes),
            )


def at_most(lengths_s: Sequence[float | None], *, lanes: int) -> float | None:
    """How long runs of these lengths take side by side, longest first: an upper bound. None where one is unknown."""
    known = [length for length in lengths_s if length is not None]
    if len(known) < len(lengths_s):
        return None
    return OVERHEAD * max(max(known, default=0.0), sum(known) / lanes)
