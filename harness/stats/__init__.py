"""Small statistics that need no library: percentiles, medians, and medians of times that did not all end. A leaf."""

from harness.stats.median import Median, censored_median, median
from harness.stats.percentile import p99, percentile

__all__ = ["Median", "censored_median", "median", "p99", "percentile"]
