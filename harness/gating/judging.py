"""Which of all differences are alarms.

An alarm needs two things: an order of runs so clear that chance alone makes one in fewer than `LEVEL` of all suites in
which nothing changed (false discovery rates over every difference that could be one), and an interval that lies above
the floor as a whole. What may be one is `unsure`, and says how many runs it takes: its interval reaches above the floor
at a rate of at most `SUSPICIOUS`, or it happened now and never before, or there were too few runs to say anything.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.gating.cases import CaseName, CaseRuns, Kind
from harness.gating.changes import Change, changes
from harness.gating.floor import Floor
from harness.gating.shifts import ENDS, LEAST, Shift, compare_samples, floor_of, tested
from harness.gating.where import where
from harness.stats.significance import false_discovery_rates, runs_to_tell

LEVEL = 0.01
"""What is promised: of suites in which nothing changed, at most one in a hundred alarms."""

SUSPICIOUS = 0.25
"""Above this rate nobody asks for more runs: some difference as large comes by chance in every fourth suite."""

Said = Literal["regression", "unsure", "better", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One difference and what it amounts to. `rate` is its false discovery rate, None where no test was needed."""

    said: Said
    of: Shift | Change
    rate: float | None = None
    needed: int | None = None

    @property
    def gravity(self) -> tuple[int, int, float]:
        """Sorts the gravest first: losses before verdicts, those before times, and the larger shift first."""
        said = ("regression", "unsure", "better", "unchanged").index(self.said)
        if isinstance(self.of, Change):
            return said, list(Kind).index(self.of.happening.kind), -self.of.now / self.of.of_now
        size = self.of.shift / self.of.floor if self.of.floor else self.of.shift
        return said, len(Kind) + _rank(self.of), -abs(size)


def _rank(shift: Shift) -> int:
    """What a caller waits for comes before what follows from it, and that before counts."""
    if shift.unit == "count":
        return 2
    return 0 if shift.measure.rpartition(".")[2] in ENDS else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One case that ran conclusively on both sides: all that was compared, the gravest first. `where` explains it."""

    name: CaseName
    before: CaseRuns
    now: CaseRuns
    judged: tuple[Judged, ...]
    where: tuple[str, ...] = ()

    @property
    def said(self) -> Said:
        said = self.judged[0].said if self.judged else "unchanged"
        if said in ("better", "unchanged") and not any(isinstance(one.of, Shift) for one in self.judged):
            # Nothing was measured: that nothing happened in a few runs says nothing.
            return "unsure" if min(self.before.counted, self.now.counted) < LEAST else said
        return said

    def all_of(self, said: Said) -> tuple[Judged, ...]:
        return tuple(one for one in self.judged if one.said == said)


def judge_pairs(pairs: Sequence[tuple[CaseRuns, CaseRuns]], floor: Floor) -> tuple[Compared, ...]:
    """Hold all pairs of (before, now) against each other as one family. Each has counted runs on both sides."""
    held = [(before, now, tuple(_held(before, now, floor))) for before, now in pairs]
    family = [one.chance for _, _, found in held for one in found if one.testable]
    rates = iter(false_discovery_rates(family))
    alone = LEVEL / max(1, len(family))
    return tuple(
        _compared(before, now, [_judged(one, next(rates) if one.testable else 1.0, alone) for one in found])
        for before, now, found in held
    )


def _held(before: CaseRuns, now: CaseRuns, floor: Floor) -> Iterator[Shift | Change]:
    yield from changes(before, now)
    # What was late on both sides alike is no difference between them.
    late_s = abs(now.late_s - before.late_s)
    for name in tested(before, now):
        sample = before.samples[name]
        yield compare_samples(name, sample, now.samples[name], floor_of(sample, floor, late_s))


def _judged(one: Shift | Change, rate: float, alone: float) -> Judged:
    """`alone`: the chance at which a single test is as rare as LEVEL among all of the family."""
    if isinstance(one, Change):
        return _judged_change(one, rate, alone)
    if one.surely_above and rate <= LEVEL:
        return Judged(said="regression", of=one, rate=rate)
    if one.perhaps_above and (not one.enough or rate <= SUSPICIOUS):
        return Judged(said="unsure", of=one, rate=rate, needed=one.needed(runs_to_tell(alone)))
    # Nothing hangs on what got better: an interval below the floor is enough.
    return Judged(said="better" if one.surely_below else "unchanged", of=one)


def _judged_change(one: Change, rate: float, alone: float) -> Judged:
    if one.plain or (one.chance < 1 and rate <= LEVEL):
        # What is told no more is no worse, but nobody can say that it is as good as it was.
        said: Said = "unsure" if one.happening.kind in (Kind.UNTOLD, Kind.UNCALLED) else "regression"
        return Judged(said=said, of=one, rate=None if one.plain else rate)
    if one.new or (one.chance < 1 and rate <= SUSPICIOUS):
        return Judged(said="unsure", of=one, rate=rate, needed=one.needed(alone))
    return Judged(said="better" if one.chance_fewer <= alone else "unchanged", of=one)


def _compared(before: CaseRuns, now: CaseRuns, judged: Sequence[Judged]) -> Compared:
    ordered = tuple(sorted(judged, key=lambda one: one.gravity))
    leading = ordered[0].of if ordered and ordered[0].said == "regression" else None
    told = where(before, now, leading) if leading is not None else ()
    return Compared(name=now.name, before=before, now=now, judged=ordered, where=told)
