"""Two suites side by side, of other releases, settings or machines: what differs and by how much, without a verdict."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.comparing.cases import CaseRuns, SuiteRuns, different_machines, select_scenarios, settings_changed
from harness.comparing.frequencies import FrequencyChange, changes
from harness.comparing.shifts import Shift, comparable_measures, compare_samples

CHANCE = 0.01
"""Of a hundred equal measures about one seems to differ."""

NEGLIGIBLE_S = 0.001
"""Smaller differences come from the lab."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseComparison:
    """A case on both sides, and what of it differs, the largest difference first."""

    first: CaseRuns
    second: CaseRuns
    shifts: tuple[Shift, ...]
    changes: tuple[FrequencyChange, ...]
    settings: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether something was measured that differs: another setting alone does not."""
        return bool(self.shifts or self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteComparison:
    """`silent`: on both sides, but on one of them no run was conclusive."""

    first: SuiteRuns
    second: SuiteRuns
    both: tuple[CaseComparison, ...]
    silent: tuple[tuple[CaseRuns, CaseRuns], ...]
    only_first: tuple[CaseRuns, ...]
    only_second: tuple[CaseRuns, ...]

    @property
    def other_machine(self) -> bool:
        return different_machines(self.first, self.second)

    @property
    def settings(self) -> tuple[str, ...]:
        """What was changed in every case that both sides have."""
        first, *others = [one.settings for one in self.both] or [()]
        return tuple(words for words in first if all(words in other for other in others))

    @property
    def differing(self) -> tuple[CaseComparison, ...]:
        """The largest difference of a time first."""
        return tuple(sorted((one for one in self.both if one.differs), key=_largest_shift_first))


def side_by_side(first: SuiteRuns, second: SuiteRuns, *, only: Sequence[str] = ()) -> SuiteComparison:
    """Pair cases of the same name, then those that differ in nothing but the release where that leaves no choice."""
    first, second = select_scenarios(first, only), select_scenarios(second, only)
    pairs = list(_matched_cases(first, second))
    here, there = {id(one) for one, _ in pairs}, {id(other) for _, other in pairs}
    conclusive = [(one, other) for one, other in pairs if one.counted and other.counted]
    return SuiteComparison(
        first=first,
        second=second,
        both=tuple(_compare_case(one, other) for one, other in conclusive),
        silent=tuple((one, other) for one, other in pairs if not (one.counted and other.counted)),
        only_first=tuple(case for case in first.cases if id(case) not in here),
        only_second=tuple(case for case in second.cases if id(case) not in there),
    )


def _matched_cases(first: SuiteRuns, second: SuiteRuns) -> Iterator[tuple[CaseRuns, CaseRuns]]:
    here, there = first.by_key, second.by_key
    yield from ((case, there[key]) for key, case in here.items() if key in there)
    left = Counter(key.in_any_release for key in here.keys() - there.keys())
    others = {key.in_any_release: case for key, case in there.items() if key not in here}
    several = Counter(key.in_any_release for key in there.keys() - here.keys())
    for key, case in here.items():
        shared = key.in_any_release
        if key not in there and several[shared] == left[shared] == 1:
            yield case, others[shared]


def _compare_case(first: CaseRuns, second: CaseRuns) -> CaseComparison:
    shifts = [
        compare_samples(name, first.samples[name], second.samples[name], 0.0, chance=CHANCE, always=True)
        for name in comparable_measures(first, second)
    ]
    return CaseComparison(
        first=first,
        second=second,
        shifts=tuple(sorted((one for one in shifts if _differs(one)), key=lambda one: (one.unit, -abs(one.shift)))),
        changes=tuple(one for one in changes(first, second) if one.chance < 1 or one.chance_fewer < 1),
        settings=tuple(settings_changed(first, second)),
    )


def _differs(one: Shift) -> bool:
    """By its interval where there are enough runs for one, else by the shift itself."""
    if one.unit == "s" and abs(one.shift) < NEGLIGIBLE_S:
        return False
    return one.shift != 0 and (one.interval is None or one.interval.low > 0 or one.interval.high < 0)


def _largest_shift_first(one: CaseComparison) -> tuple[float, str]:
    return -max((abs(shift.shift) for shift in one.shifts if shift.unit == "s"), default=0.0), one.first.key.scenario
