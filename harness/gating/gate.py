"""A later suite compared with an earlier one as a whole: what was compared, what is missing, what is uncertain."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.comparing.cases import CaseRuns, SuiteRuns, different_machines, select_scenarios
from harness.comparing.floor import DEFAULT_FLOOR, Floor
from harness.comparing.shifts import MIN_RUNS
from harness.gating.assessment import SEVERITY, Assessment, ComparedCase, assess_pairs
from harness.records.case_key import CaseKey


@dataclass(frozen=True, slots=True, kw_only=True)
class InconclusiveCase:
    """A case that ran on both sides, on one of which no run was conclusive. `now`: on the later one."""

    before: CaseRuns
    now: CaseRuns

    @property
    def key(self) -> CaseKey:
        return self.now.key

    @property
    def spoilt(self) -> CaseRuns:
        return self.now if self.now.counted == 0 else self.before


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """`lost`: in the baseline, not run now. `new`: run now, not in the baseline. `other_machine`: nothing was compared,
    because times of two machines say nothing about a client."""

    baseline: SuiteRuns
    current: SuiteRuns
    floor: Floor
    compared: tuple[ComparedCase, ...] = ()
    silent: tuple[InconclusiveCase, ...] = ()
    lost: tuple[CaseRuns, ...] = ()
    new: tuple[CaseRuns, ...] = ()
    other_machine: bool = False

    @property
    def expected(self) -> int:
        """How many cases the baseline has."""
        return len(self.compared) + len(self.silent) + len(self.lost)

    def cases_assessed(self, assessment: Assessment) -> tuple[ComparedCase, ...]:
        """The cases whose most severe difference has this assessment, the most severe first."""
        return tuple(sorted((one for one in self.compared if one.assessment == assessment), key=_severity_key))

    @property
    def regressed(self) -> bool:
        return bool(self.lost or self.cases_assessed("regression"))

    @property
    def inconclusive(self) -> bool:
        return bool(self.silent or self.cases_assessed("unsure")) or not self.compared


def gate(
    baseline: SuiteRuns, current: SuiteRuns, *, floor: Floor | None = None, only: Sequence[str] = ()
) -> GateResult:
    """Compare what both ran. `floor` overrides the baseline's; `only` are names of scenarios, or patterns.

    A suite that has not ended may still run its missing cases, so none of them counts as lost.
    """
    before, now = select_scenarios(baseline, only), select_scenarios(current, only)
    chosen = floor or baseline.floor or DEFAULT_FLOOR
    if different_machines(before, now):
        return GateResult(baseline=before, current=now, floor=chosen, other_machine=True)
    was, there = before.by_key, now.by_key
    both = [(was[name], there[name]) for name in sorted(was.keys() & there.keys())]
    gone = [was[name] for name in sorted(was.keys() - there.keys())]
    begun = bool(now.unfinished and current.cases)
    both += [(case, _unfinished_case(case, now)) for case in gone if begun]
    pairs = [(one, other) for one, other in both if one.counted and other.counted]
    return GateResult(
        baseline=before,
        current=now,
        floor=chosen,
        compared=assess_pairs(pairs, chosen),
        silent=tuple(
            InconclusiveCase(before=one, now=other) for one, other in both if not (one.counted and other.counted)
        ),
        lost=() if begun else tuple(gone),
        new=tuple(there[name] for name in sorted(there.keys() - was.keys())),
    )


def _unfinished_case(case: CaseRuns, now: SuiteRuns) -> CaseRuns:
    return CaseRuns(key=case.key, runs=0, counted=0, reasons=(f"{now.source} has not ended: {now.unfinished}",))


def too_few(one: ComparedCase) -> bool:
    """Whether it is unsure only because there are too few runs."""
    return one.assessment == "unsure" and min(one.before.counted, one.now.counted) < MIN_RUNS


def _severity_key(one: ComparedCase) -> tuple[tuple[int, int, float], CaseKey]:
    return one.assessed[0].severity_key if one.assessed else (len(SEVERITY), 0, 0.0), one.key
