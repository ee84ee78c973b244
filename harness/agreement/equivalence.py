"""Two samples compared: how far they lie apart, and whether that is within a bound.

Agreement is an equivalence test of each row, at `AGREE_CHANCE`. Difference is an alarm, at a level that all rows of a
matrix share: a matrix in which all agree gives one with a chance below `MATRIX_CHANCE`.
Source: Schuirmann, A comparison of the two one-sided tests procedure and the power approach (1987).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from harness.agreement.modes import Mode, split_into_modes
from harness.agreement.samples import SideSample
from harness.records.agreement import Agreement, Side, SideComparison
from harness.stats import Interval, equal_shares_p_value, share_difference_interval
from harness.stats.shift import shift, shift_interval

MATRIX_CHANCE = 0.001
AGREE_CHANCE = 0.05
SHARE_BOUND = 0.3
"""By how much the shares of runs in one mode may differ, where chance chooses the mode."""
SHARE_CHANCE = 0.03
"""The nominal chance of each end of the shares' interval, which is not exact: with this one, and about as many runs on
either side, shares that differ by the bound are said to agree with less than `AGREE_CHANCE` (tests/agreement)."""
MAX_RUNS = 240
"""The largest number of runs that a user is asked for."""


@dataclass(frozen=True, slots=True)
class _ModeResult:
    """The test of one mode: an estimate, the values compatible with it (`interval`), its bound, and whether it is an
    alarm (`differs`). `description` names it for a reader."""

    description: str
    estimate: float
    interval: Interval
    bound: float
    differs: bool

    @property
    def agrees(self) -> bool:
        return self.interval.low >= -self.bound and self.interval.high <= self.bound


def compare(
    reference: SideSample, other: SideSample, *, sides: tuple[Side, Side], bound: float, level: float
) -> SideComparison:
    """Compare the other sample with the reference; `sides` are the names of the reference and the other.

    `bound` is in the unit of the values; `level` the chance with which two that agree may be said to differ.
    """
    blank = SideComparison(side=sides[1], reference=sides[0], outcome="unsure", bound=bound, level=level)
    silent = next((pair for pair in zip(sides, (reference, other), strict=True) if not len(pair[1])), None)
    if silent is not None:
        return blank.model_copy(update={"reason": f"{silent[0]}: {silent[1].silent or 'no run has a value'}"})
    modes, shifts, shares = _test_modes(reference, other, bound, level)
    outcome = _outcome([*shifts, *shares])
    found: dict[str, object] = {"outcome": outcome, "ways": len(modes)}
    if shifts:
        far = max(shifts, key=lambda one: abs(one.estimate))
        found |= {"difference": far.estimate, **_interval_fields("interval", far.interval)}
    if len(modes) > 1:
        uneven = max(shares, key=lambda one: abs(one.estimate))
        found |= {"share_difference": uneven.estimate, **_interval_fields("share_interval", uneven.interval)}
        found |= {"share_bound": SHARE_BOUND}
    if outcome == "differs":
        found["reason"] = "; ".join(one.description for one in (*shifts, *shares) if one.differs)
    if outcome == "unsure":
        found["needed"] = needed = _needed(reference, other, bound, level)
        unsure = next(one for one in (*shifts, *shares) if not one.agrees)
        found["reason"] = (
            f"{unsure.description}: {'more runs than can be asked for' if needed is None else 'too few runs'}"
        )
    return blank.model_copy(update=found)


def _test_modes(
    reference: SideSample, other: SideSample, bound: float, level: float
) -> tuple[Sequence[Mode], list[_ModeResult], list[_ModeResult]]:
    modes = split_into_modes(reference, other, bound)
    tests = 2 * len(modes)
    shifts = [_test_shift(mode, bound, level / tests) for mode in modes if mode.reference and mode.other]
    shares = [_test_share(mode, (len(reference), len(other)), level / tests) for mode in modes]
    return modes, shifts, shares


def _outcome(results: Sequence[_ModeResult]) -> Agreement:
    if any(one.differs for one in results):
        return "differs"
    return "agrees" if all(one.agrees for one in results) else "unsure"


def _test_shift(mode: Mode, bound: float, level: float) -> _ModeResult:
    one, two = mode.reference, mode.other
    # The true shift is beyond one bound or the other, never both: each end may use the whole chance.
    return _ModeResult(
        description=f"values at {mode.label}",
        estimate=shift(one, two),
        interval=shift_interval(one, two, chance=2 * AGREE_CHANCE),
        bound=bound,
        differs=shift_interval(one, two, chance=2 * level).lies_outside(-bound, bound),
    )


def _test_share(mode: Mode, runs: tuple[int, int], level: float) -> _ModeResult:
    """By how much more often the other's runs are in this mode.

    It is an alarm where the difference is above the bound, and hardly possible if both shares were equal.
    """
    (mine, its), (my_runs, its_runs) = mode.counts, runs
    apart = its / its_runs - mine / my_runs
    return _ModeResult(
        description=f"{mode.label} in {mine} of {my_runs} and {its} of {its_runs} runs",
        estimate=apart,
        interval=share_difference_interval(mine, my_runs, its, its_runs, chance=2 * SHARE_CHANCE),
        bound=SHARE_BOUND,
        differs=abs(apart) > SHARE_BOUND and equal_shares_p_value(mine, my_runs, its, its_runs) <= level,
    )


def _needed(reference: SideSample, other: SideSample, bound: float, level: float) -> int | None:
    """About how many runs a side would decide, if further runs are like those seen."""
    most, times = max(len(reference), len(other)), 2
    while times * most <= MAX_RUNS:
        _, shifts, shares = _test_modes(reference.repeated(times), other.repeated(times), bound, level)
        if _outcome([*shifts, *shares]) != "unsure":
            return times * most
        times += max(1, times // 2)
    return None


def _interval_fields(name: str, interval: Interval) -> dict[str, float | None]:
    ends = {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return {key: value if isfinite(value) else None for key, value in ends.items()}
