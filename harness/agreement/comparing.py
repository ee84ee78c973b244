"""Two samples held against each other: how far they lie apart, and whether that is within a bound.

Agreement is an equivalence test of each row, at `AGREE_CHANCE`. Difference is an alarm, at a level that all rows of a
matrix share: a matrix in which all agree gives one with a chance below `MATRIX_CHANCE`.
Source: Schuirmann, A comparison of the two one-sided tests procedure and the power approach (1987).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from harness.agreement.samples import Sample, Way, ways_of
from harness.records.agreement import Agreement, Compared, Side
from harness.stats import Interval, equal_shares, share_interval
from harness.stats.shift import shift, shift_interval

MATRIX_CHANCE = 0.001
AGREE_CHANCE = 0.05
SHARE_BOUND = 0.3
"""By how much the parts of the runs that went one way may differ, where chance chooses the way."""
MOST_RUNS = 240
"""More runs are never asked for by number."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a way shows: an estimate, what is compatible with it (`close`), the bound on it, and whether it is an
    alarm (`differs`). `what` it is of, for a reader."""

    what: str
    estimate: float
    close: Interval
    bound: float
    differs: bool

    @property
    def agrees(self) -> bool:
        return self.close.low >= -self.bound and self.close.high <= self.bound


def compare(reference: Sample, other: Sample, *, sides: tuple[Side, Side], bound: float, level: float) -> Compared:
    """The other sample against the reference; `sides` are the names of the reference and the other.

    `bound` is in the unit of the values; `level` the chance with which two that agree may be said to differ.
    """
    blank = Compared(side=sides[1], reference=sides[0], outcome="unsure", bound=bound, level=level)
    silent = next((pair for pair in zip(sides, (reference, other), strict=True) if pair[1].told == 0), None)
    if silent is not None:
        return blank.model_copy(update={"reason": f"{silent[0]}: {silent[1].silent or 'no run told anything of it'}"})
    ways, shifts, shares = _shown(reference, other, bound, level)
    outcome = _outcome([*shifts, *shares])
    told: dict[str, object] = {"outcome": outcome, "ways": len(ways)}
    if shifts:
        far = max(shifts, key=lambda one: abs(one.estimate))
        told |= {"difference": far.estimate, **_ends("interval", far.close)}
    if len(ways) > 1:
        uneven = max(shares, key=lambda one: abs(one.estimate))
        told |= {"share_difference": uneven.estimate, **_ends("share_interval", uneven.close)}
        told |= {"share_bound": SHARE_BOUND}
    if outcome == "differs":
        told["reason"] = "; ".join(one.what for one in (*shifts, *shares) if one.differs)
    if outcome == "unsure":
        told["needed"] = needed = _needed(reference, other, bound, level)
        unsure = next(one for one in (*shifts, *shares) if not one.agrees)
        told["reason"] = f"{unsure.what}: {'more runs than can be asked for' if needed is None else 'too few runs'}"
    return blank.model_copy(update=told)


def _shown(
    reference: Sample, other: Sample, bound: float, level: float
) -> tuple[Sequence[Way], list[_Shown], list[_Shown]]:
    ways = ways_of(reference, other, bound)
    tests = 2 * len(ways)
    shifts = [_shifted(way, bound, level / tests) for way in ways if way.reference and way.other]
    shares = [_shared(way, (reference.told, other.told), level / tests) for way in ways]
    return ways, shifts, shares


def _outcome(shown: Sequence[_Shown]) -> Agreement:
    if any(one.differs for one in shown):
        return "differs"
    return "agrees" if all(one.agrees for one in shown) else "unsure"


def _shifted(way: Way, bound: float, level: float) -> _Shown:
    one, two = way.reference, way.other
    # Truth lies beyond one bound or the other, never both: each end may be missed with the whole chance.
    return _Shown(
        what=f"values at {way.label}",
        estimate=shift(one, two),
        close=shift_interval(one, two, chance=2 * AGREE_CHANCE),
        bound=bound,
        differs=shift_interval(one, two, chance=2 * level).beyond(-bound, bound),
    )


def _shared(way: Way, runs: tuple[int, int], level: float) -> _Shown:
    """By how much more often the other's runs are in this way.

    Chance draws alike for both where they do the same: an alarm is a difference above the bound that chance would
    hardly make of equal shares.
    """
    (mine, its), (my_runs, its_runs) = way.counts, runs
    one, two = (share_interval(*pair, chance=AGREE_CHANCE) for pair in ((mine, my_runs), (its, its_runs)))
    apart = its / its_runs - mine / my_runs
    return _Shown(
        what=f"{way.label} in {mine} of {my_runs} and {its} of {its_runs} runs",
        estimate=apart,
        # Each end is missed where either share is, on one side: with half of the chance each.
        close=Interval(two.low - one.high, two.high - one.low),
        bound=SHARE_BOUND,
        differs=abs(apart) > SHARE_BOUND and equal_shares(mine, my_runs, its, its_runs) <= level,
    )


def _needed(reference: Sample, other: Sample, bound: float, level: float) -> int | None:
    """About how many runs a side decide, if further runs are as those seen."""
    most, times = max(reference.told, other.told), 2
    while times * most <= MOST_RUNS:
        _, shifts, shares = _shown(_times(reference, times), _times(other, times), bound, level)
        if _outcome([*shifts, *shares]) != "unsure":
            return times * most
        times += max(1, times // 2)
    return None


def _times(sample: Sample, times: int) -> Sample:
    return replace(
        sample, runs=sample.runs * times, values=sample.values * times, words=sample.words * times,
        censored=sample.censored * times,
    )  # fmt: skip


def _ends(name: str, interval: Interval) -> dict[str, float | None]:
    ends = {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return {key: value if isfinite(value) else None for key, value in ends.items()}
