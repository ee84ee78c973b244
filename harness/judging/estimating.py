"""Estimates over many runs: the share, mean or quantile, the interval around it, and whether the runs are enough."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil

from harness.judging.sample import CensoredSample
from harness.plan import Statistic
from harness.stats import (
    Interval,
    mean_interval,
    percentile,
    quantile_interval,
    runs_for_quantile,
    runs_for_share,
    share_interval,
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The prediction, and how far from it the truth may be; None: no bound on that side."""

    predicted: float
    tolerance: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class IntervalEstimate:
    """The estimate if every doubtful run was as low, and as high, as it may have been; the interval around both."""

    least: float
    most: float
    interval: Interval
    enough: bool
    needed: int | None


def estimate_interval(
    statistic: Statistic, sample: CensoredSample, bounds: Bounds, *, level: float
) -> IntervalEstimate:
    """The estimate of the runs; `sample` holds at least one."""
    return _ESTIMATORS[statistic.statistic](statistic, sample, bounds, level)


def estimate(statistic: Statistic, sample: CensoredSample) -> float | None:
    """The estimate over the runs that gave a value, None where none did."""
    values = sample.measured
    if not values:
        return None
    if statistic.statistic == "quantile":
        assert statistic.q is not None
        return percentile(values, statistic.q)
    return sum(values) / len(values)


def _share(_statistic: Statistic, sample: CensoredSample, bounds: Bounds, level: float) -> IntervalEstimate:
    runs = len(sample.lows)
    fewest, most = round(sum(sample.lows)), round(sum(sample.highs))
    interval = Interval(share_interval(fewest, runs, chance=level).low, share_interval(most, runs, chance=level).high)
    least, greatest = fewest / runs, most / runs
    needed = runs_for_share(bounds.predicted, bounds.low, bounds.high, chance=level)
    enough = needed is not None and runs - len(sample.missing_reasons) >= needed
    if enough and bounds.high is not None and least > bounds.high:
        needed = runs_for_share(least, bounds.high, None, chance=level)
    elif enough and bounds.low is not None and greatest < bounds.low:
        needed = runs_for_share(greatest, None, bounds.low, chance=level)
    return IntervalEstimate(least, greatest, interval, enough, needed)


def _mean(statistic: Statistic, sample: CensoredSample, bounds: Bounds, level: float) -> IntervalEstimate:
    runs = len(sample.lows)
    interval = Interval(
        mean_interval(sample.lows, statistic.lowest, statistic.highest, chance=level).low,
        mean_interval(sample.highs, statistic.lowest, statistic.highest, chance=level).high,
    )
    least, most = sum(sample.lows) / runs, sum(sample.highs) / runs
    reach = _margin(least, most, interval, bounds)
    # The width of the interval falls with the root of the number of runs.
    needed = ceil(runs * (reach / _required_margin(least, most, bounds)) ** 2)
    return IntervalEstimate(least, most, interval, enough=reach <= bounds.tolerance, needed=needed)


def _quantile(statistic: Statistic, sample: CensoredSample, bounds: Bounds, level: float) -> IntervalEstimate:
    assert statistic.q is not None
    runs = len(sample.lows)
    least, most = percentile(sample.lows, statistic.q), percentile(sample.highs, statistic.q)
    interval = quantile_interval(sample.lows, sample.highs, statistic.q, chance=level)
    reach = _margin(least, most, interval, bounds)
    wanted = _required_margin(least, most, bounds)
    # The interval's ends are ranks: enough runs separate the quantile's rank from those of values this far off.
    too_low = None if bounds.low is None else sum(value < least - wanted for value in sample.lows) / runs
    low_enough = None if bounds.high is None else sum(value <= most + wanted for value in sample.highs) / runs
    by_rank = runs_for_share(statistic.q, too_low, low_enough, chance=level)
    first = runs_for_quantile(statistic.q, chance=level)
    needed = first if by_rank is None and runs < first else by_rank
    enough = runs >= first and reach <= bounds.tolerance
    return IntervalEstimate(least, most, interval, enough, None if needed is None else max(first, needed))


def _margin(least: float, most: float, interval: Interval, bounds: Bounds) -> float:
    """How far the truth may be from the estimate, on the sides on which it is bound."""
    above = 0.0 if bounds.high is None else interval.high - most
    below = 0.0 if bounds.low is None else least - interval.low
    return max(above, below)


def _required_margin(least: float, most: float, bounds: Bounds) -> float:
    """How narrow the interval has to be: as the tolerance, or, out of bounds, until it leaves them."""
    above = 0.0 if bounds.high is None else least - bounds.high
    below = 0.0 if bounds.low is None else bounds.low - most
    off = max(above, below)
    return min(bounds.tolerance, off) if off > 0 else bounds.tolerance


_ESTIMATORS: Mapping[str, Callable[[Statistic, CensoredSample, Bounds, float], IntervalEstimate]] = {
    "share": _share,
    "mean": _mean,
    "quantile": _quantile,
}
