"""A later suite held against an earlier one, whole: what was compared, what is there no more, what nobody can say."""

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.gating.cases import CaseName, CaseRuns, Side
from harness.gating.floor import DEFAULT, Floor
from harness.gating.judging import Compared, Said, judge_pairs
from harness.gating.shifts import LEAST


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent:
    """A case that ran on both sides, on one of which no run was conclusive. `now`: on the later one."""

    before: CaseRuns
    now: CaseRuns

    @property
    def name(self) -> CaseName:
        return self.now.name

    @property
    def spoilt(self) -> CaseRuns:
        return self.now if self.now.counted == 0 else self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """`lost`: in the baseline, not run now. `new`: run now, not in the baseline. `other_machine`: nothing was compared
    because times of two machines tell nothing of a client."""

    baseline: Side
    current: Side
    floor: Floor
    compared: tuple[Compared, ...] = ()
    silent: tuple[Silent, ...] = ()
    lost: tuple[CaseRuns, ...] = ()
    new: tuple[CaseRuns, ...] = ()
    other_machine: bool = False

    @property
    def expected(self) -> int:
        """Cases that the baseline asks for."""
        return len(self.compared) + len(self.silent) + len(self.lost)

    def that(self, said: Said) -> tuple[Compared, ...]:
        """The cases whose gravest difference says so, the gravest first."""
        return tuple(sorted((one for one in self.compared if one.said == said), key=_gravity))

    @property
    def regressed(self) -> bool:
        return bool(self.lost or self.that("regression"))

    @property
    def inconclusive(self) -> bool:
        return bool(self.silent or self.that("unsure")) or not self.compared


def gate(baseline: Side, current: Side, *, floor: Floor | None = None, only: Sequence[str] = ()) -> Gated:
    """Compare what both ran. `floor` comes before the baseline's own; `only` are names of scenarios, patterns too.

    Nobody can tell what a suite that has not ended would still have run: of that nothing is lost.
    """
    before, now = selected(baseline, only), selected(current, only)
    chosen = floor or baseline.floor or DEFAULT
    if elsewhere(before, now):
        return Gated(baseline=before, current=now, floor=chosen, other_machine=True)
    was = {case.name: case for case in before.cases}
    there = {case.name: case for case in now.cases}
    both = [(was[name], there[name]) for name in sorted(was.keys() & there.keys())]
    gone = [was[name] for name in sorted(was.keys() - there.keys())]
    begun = bool(now.unfinished and current.cases)
    both += [(case, _not_yet(case, now)) for case in gone if begun]
    pairs = [(one, other) for one, other in both if one.counted and other.counted]
    return Gated(
        baseline=before,
        current=now,
        floor=chosen,
        compared=judge_pairs(pairs, chosen),
        silent=tuple(Silent(before=one, now=other) for one, other in both if not (one.counted and other.counted)),
        lost=() if begun else tuple(gone),
        new=tuple(there[name] for name in sorted(there.keys() - was.keys())),
    )


def _not_yet(case: CaseRuns, now: Side) -> CaseRuns:
    return CaseRuns(name=case.name, runs=0, counted=0, reasons=(f"{now.source} has not ended: {now.unfinished}",))


def selected(side: Side, only: Sequence[str]) -> Side:
    """The cases of scenarios that match one of the patterns; all of them without any."""
    if not only:
        return side
    return replace(side, cases=tuple(case for case in side.cases if matches(case.name.scenario, only)))


def matches(scenario: str, only: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(scenario, pattern) for pattern in only)


def elsewhere(before: Side, now: Side) -> bool:
    """Whether their times are those of two machines. Virtual time is the same everywhere."""
    return before.machine != now.machine and not (before.simulated and now.simulated)


def too_few(one: Compared) -> bool:
    """Whether it is unsure for want of runs alone, whatever was measured."""
    return one.said == "unsure" and min(one.before.counted, one.now.counted) < LEAST


def _gravity(one: Compared) -> tuple[tuple[int, int, float], CaseName]:
    return one.judged[0].gravity if one.judged else (3, 0, 0.0), one.name
