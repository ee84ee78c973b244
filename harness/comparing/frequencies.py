"""What happens in more runs than before, or in fewer: one symptom of one case on both sides."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from harness.comparing.cases import CaseRuns
from harness.comparing.shifts import MAX_RUNS, MIN_RUNS
from harness.comparing.symptoms import Symptom, SymptomKind
from harness.stats.significance import fisher_p_value

SELF_EVIDENT = frozenset({SymptomKind.LOST, SymptomKind.DUPLICATED})
"""A single one is proof where there was none before: a noisy machine does not lose messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyChange:
    """It happened in `before` of `of_before` runs, and in `now` of `of_now`.

    `chance` is the p-value of this increase or a larger one, `chance_fewer` that of this decrease.
    """

    symptom: Symptom
    before: int
    of_before: int
    now: int
    of_now: int
    chance: float
    chance_fewer: float

    @property
    def new(self) -> bool:
        return self.before == 0 and self.now > 0

    @property
    def self_evident(self) -> bool:
        """Whether no test is needed: every run does it now and none did before, or one occurrence is proof."""
        return self.new and (self.now == self.of_now or self.symptom.kind in SELF_EVIDENT)

    @property
    def testable(self) -> bool:
        """Whether it happened in some runs and not in others: otherwise a test has nothing to say."""
        return not self.self_evident and 0 < self.before + self.now < self.of_before + self.of_now

    def runs_needed(self, level: float) -> int | None:
        """About how many runs a side show these shares clearly; None where it would take more than MAX_RUNS."""
        runs = max(MIN_RUNS, min(self.of_before, self.of_now) + 1)
        while runs <= MAX_RUNS:
            before, now = ceil(self.before / self.of_before * runs), round(self.now / self.of_now * runs)
            if fisher_p_value(before, runs, max(now, before), runs) <= level:
                return runs
            runs = ceil(runs * 1.1)
        return None


def changes(before: CaseRuns, now: CaseRuns) -> tuple[FrequencyChange, ...]:
    """Every symptom on either side that can be better or worse. Both sides have counted runs."""
    there = sorted(before.happened.keys() | now.happened.keys())
    happened = [_change(one, before, now) for one in there if _comparable(one, before, now)]
    return (*happened, *_missing_measurements(before, now))


def _missing_measurements(before: CaseRuns, now: CaseRuns) -> Iterator[FrequencyChange]:
    """Times that fewer runs have, and operations that no run calls any more: they are no longer checked. Times of
    operations are left out, since they follow from how the operations ended, which is compared already."""
    for alias in before.operations:
        if alias not in now.operations:
            yield _counted(Symptom(SymptomKind.NOT_CALLED, alias), 0, now.counted, before, now)
    for name, sample in before.samples.items():
        alias, _, measure = name.partition(".")
        if sample.unit != "s" or alias in before.operations or "(" in measure:
            continue
        measured = len(now.samples[name]) if name in now.samples else 0
        if measured * before.counted < len(sample) * now.counted:
            silent = (before.counted - len(sample), now.counted - measured)
            yield _counted(Symptom(SymptomKind.NOT_MEASURED, name), *silent, before, now)


def _comparable(symptom: Symptom, before: CaseRuns, now: CaseRuns) -> bool:
    """False for an operation that one side does not call, for an error instead of a hang, and for a class of error
    that was seen before."""
    alias = symptom.alias
    if symptom.kind in (SymptomKind.HANGS, SymptomKind.FAILS, SymptomKind.ERROR) and not (
        alias in before.operations and alias in now.operations
    ):
        return False
    if symptom.kind is SymptomKind.ERROR:
        hung = before.happened.get(Symptom(SymptomKind.HANGS, alias), 0)
        return before.happened.get(symptom, 0) == 0 and hung < before.counted
    return True


def _change(symptom: Symptom, before: CaseRuns, now: CaseRuns) -> FrequencyChange:
    return _counted(symptom, before.happened.get(symptom, 0), now.happened.get(symptom, 0), before, now)


def _counted(symptom: Symptom, was: int, count: int, before: CaseRuns, now: CaseRuns) -> FrequencyChange:
    of_was, of_count = before.counted, now.counted
    more = count * of_was > was * of_count
    fewer = count * of_was < was * of_count
    return FrequencyChange(
        symptom=symptom, before=was, of_before=of_was, now=count, of_now=of_count,
        chance=fisher_p_value(was, of_was, count, of_count) if more else 1.0,
        chance_fewer=fisher_p_value(count, of_count, was, of_was) if fewer else 1.0,
    )  # fmt: skip
