"""Medians of times of which some did not end, as columns: the same rule as `harness.stats.censored_median`."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Column


def observed(value: Column, censored_at: Column) -> Column:
    """A pair of time and whether it did not end; null where there is neither value nor bound."""
    time = F.coalesce(value, censored_at)
    return F.when(time.isNotNull(), F.struct(time.alias("time"), value.isNull().alias("unended")))


def middle(pairs: Column) -> Column:
    """The middle time of sorted pairs, or the mean of the two in the middle; null where there are none."""
    count = F.size(pairs)
    lower = F.get(pairs, F.floor((count - 1) / 2).cast("int"))["time"]
    upper = F.get(pairs, F.floor(count / 2).cast("int"))["time"]
    return F.when(count > 0, (lower + upper) / 2)


def middle_is_bound(pairs: Column) -> Column:
    """Whether the median is only known to be at least `middle`: some of its shorter half did not end."""
    half = F.slice(pairs, F.lit(1), F.floor(F.size(pairs) / 2).cast("int") + 1)
    return F.exists(half, lambda pair: pair["unended"])
