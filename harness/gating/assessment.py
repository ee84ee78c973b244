"""Which of all differences are alarms.

An alarm needs two things: a false discovery rate of at most `ALARM_Q_VALUE` over every difference that could be an
alarm, so that chance alone makes one in fewer than that share of the suites in which nothing changed; and an interval
that lies wholly above the floor. What may be an alarm is `unsure`, and says how many runs it takes: the shift lies
above the floor at a rate of at most `SUSPICION_Q_VALUE`, though its interval may not, or it happened now and never
before, or there were too few runs. A shift within the floor whose interval reaches above it is `noted`: more likely
than not, nothing got worse by more than the floor.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from harness.comparing.cases import CaseRuns, settings_changed
from harness.comparing.floor import Floor
from harness.comparing.frequencies import FrequencyChange, changes
from harness.comparing.shifts import (
    MIN_RUNS,
    OUTCOME_TIMES,
    Shift,
    comparable_measures,
    compare_samples,
    floor_for_sample,
)
from harness.comparing.symptoms import SymptomKind
from harness.gating.explanation import where
from harness.records.case_key import CaseKey
from harness.stats.significance import false_discovery_rates, min_runs_per_side

ALARM_Q_VALUE = 0.01
"""The promise: of a hundred suites in which nothing changed, at most one raises an alarm."""

SUSPICION_Q_VALUE = 0.25
"""Above this rate no more runs are asked for: by chance, every fourth suite has a difference as large."""

Assessment = Literal["regression", "unsure", "noted", "better", "unchanged"]
SEVERITY: tuple[Assessment, ...] = get_args(Assessment)
"""The most severe first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedDifference:
    """One difference and its assessment. `q_value` is its false discovery rate, None where no test was needed."""

    assessment: Assessment
    of: Shift | FrequencyChange
    q_value: float | None = None
    runs_needed: int | None = None

    @property
    def severity_key(self) -> tuple[int, int, float]:
        """Sorts the most severe first: losses before verdicts, those before times, and the larger shift first."""
        assessment = SEVERITY.index(self.assessment)
        if isinstance(self.of, FrequencyChange):
            return assessment, list(SymptomKind).index(self.of.symptom.kind), -self.of.now / self.of.of_now
        size = self.of.shift / self.of.floor if self.of.floor else self.of.shift
        return assessment, len(SymptomKind) + _rank(self.of), -abs(size)


def _rank(shift: Shift) -> int:
    """What a caller waits for comes before what follows from it, and that before counts."""
    if shift.unit == "count":
        return 2
    return 0 if shift.measure.rpartition(".")[2] in OUTCOME_TIMES else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCase:
    """A case with conclusive runs on both sides: every difference, the most severe first. `work` is what the client did
    more or less often, where that explains the most severe."""

    before: CaseRuns
    now: CaseRuns
    assessed: tuple[AssessedDifference, ...]
    work: tuple[str, ...] = ()

    @property
    def settings(self) -> tuple[str, ...]:
        """`Net.DialTimeout 1s -> 2s`: what was changed between the two sides."""
        return tuple(settings_changed(self.before, self.now))

    @property
    def where(self) -> tuple[str, ...]:
        """What explains the most severe difference, if it is a regression: settings that were changed, then work."""
        return (*self.settings, *self.work) if self.assessment == "regression" else ()

    @property
    def key(self) -> CaseKey:
        return self.now.key

    @property
    def assessment(self) -> Assessment:
        assessment = self.assessed[0].assessment if self.assessed else "unchanged"
        if assessment in ("better", "unchanged") and not any(isinstance(one.of, Shift) for one in self.assessed):
            # Nothing was measured, and a few runs in which nothing happened prove nothing.
            return "unsure" if min(self.before.counted, self.now.counted) < MIN_RUNS else assessment
        return assessment

    def differences_assessed(self, assessment: Assessment) -> tuple[AssessedDifference, ...]:
        return tuple(one for one in self.assessed if one.assessment == assessment)


def assess_pairs(pairs: Sequence[tuple[CaseRuns, CaseRuns]], floor: Floor) -> tuple[ComparedCase, ...]:
    """Assess all pairs of (before, now) as one family of tests. Each has counted runs on both sides."""
    compared = [(before, now, tuple(_differences(before, now, floor))) for before, now in pairs]
    family = [one.chance for _, _, found in compared for one in found if one.testable]
    q_values = iter(false_discovery_rates(family))
    single_test_level = ALARM_Q_VALUE / max(1, len(family))
    return tuple(
        _compared(
            before, now, [_assess(one, next(q_values) if one.testable else 1.0, single_test_level) for one in found]
        )
        for before, now, found in compared
    )


def _differences(before: CaseRuns, now: CaseRuns, floor: Floor) -> Iterator[Shift | FrequencyChange]:
    yield from changes(before, now)
    # Only the difference in lateness counts: what both sides share makes no difference between them.
    timer_lag_s = abs(now.timer_lag_s - before.timer_lag_s)
    for name in comparable_measures(before, now):
        sample = before.samples[name]
        yield compare_samples(name, sample, now.samples[name], floor_for_sample(sample, floor, timer_lag_s))


def _assess(one: Shift | FrequencyChange, q_value: float, single_test_level: float) -> AssessedDifference:
    """`single_test_level`: the p-value at which a single test of the family is an alarm (Bonferroni)."""
    if isinstance(one, FrequencyChange):
        return _assess_change(one, q_value, single_test_level)
    if one.clearly_above_floor and q_value <= ALARM_Q_VALUE:
        return AssessedDifference(assessment="regression", of=one, q_value=q_value)
    if one.possibly_above_floor and (not one.enough_runs or q_value <= SUSPICION_Q_VALUE):
        return AssessedDifference(
            assessment="unsure" if one.probably_above_floor or not one.enough_runs else "noted",
            of=one,
            q_value=q_value,
            runs_needed=one.runs_needed(min_runs_per_side(single_test_level)),
        )
    # An improvement has no consequences: an interval below the floor is enough.
    return AssessedDifference(assessment="better" if one.clearly_below_floor else "unchanged", of=one)


def _assess_change(one: FrequencyChange, q_value: float, single_test_level: float) -> AssessedDifference:
    if one.self_evident or (one.chance < 1 and q_value <= ALARM_Q_VALUE):
        # What is no longer measured has not become worse, but it is not known to be as good as it was.
        assessment: Assessment = (
            "unsure" if one.symptom.kind in (SymptomKind.NOT_MEASURED, SymptomKind.NOT_CALLED) else "regression"
        )
        return AssessedDifference(assessment=assessment, of=one, q_value=None if one.self_evident else q_value)
    if one.new or (one.chance < 1 and q_value <= SUSPICION_Q_VALUE):
        return AssessedDifference(
            assessment="unsure", of=one, q_value=q_value, runs_needed=one.runs_needed(single_test_level)
        )
    return AssessedDifference(assessment="better" if one.chance_fewer <= single_test_level else "unchanged", of=one)


def _compared(before: CaseRuns, now: CaseRuns, assessed: Sequence[AssessedDifference]) -> ComparedCase:
    ordered = tuple(sorted(assessed, key=lambda one: one.severity_key))
    leading = ordered[0].of if ordered and ordered[0].assessment == "regression" else None
    explanation = where(before, now, leading) if leading is not None else ()
    return ComparedCase(before=before, now=now, assessed=ordered, work=explanation)
