"""Small statistics over the standard library: percentiles, medians of times that did not all end, and intervals that
hold whatever the distribution is. A leaf."""

from harness.stats.interval import Interval
from harness.stats.means import mean_interval
from harness.stats.median import Median, censored_median, median
from harness.stats.percentile import p99, percentile
from harness.stats.quantiles import quantile_interval, runs_for_quantile
from harness.stats.shares import equal_shares_p_value, runs_for_share, share_difference_interval, share_interval

__all__ = [
    "Interval",
    "Median",
    "censored_median",
    "equal_shares_p_value",
    "mean_interval",
    "median",
    "p99",
    "percentile",
    "quantile_interval",
    "runs_for_quantile",
    "runs_for_share",
    "share_difference_interval",
    "share_interval",
]
