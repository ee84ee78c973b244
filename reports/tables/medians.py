"""Quantiles of times of which some did not end, as columns: the same rules as `harness.stats.censored_median` and
`harness.stats.percentile`.

A time that did not end is only known to be longer. So a quantile is exact while every time up to it had ended; beyond
that it is a lower bound (`_is_bound`): to be shown with a `≥`.
"""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Column, DataFrame

QUANTILES = (0.25, 0.75, 0.9, 0.95, 0.99)


def observation(value: Column, censored_at: Column) -> Column:
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


def quantile(pairs: Column, q: float) -> Column:
    """Of sorted pairs, the smallest time that at least `q` of all do not exceed: a time that was measured."""
    return F.get(pairs, rank(pairs, q) - 1)["time"]


def quantile_is_bound(pairs: Column, q: float) -> Column:
    return F.exists(F.slice(pairs, F.lit(1), rank(pairs, q)), lambda pair: pair["unended"])


def rank(pairs: Column, q: float) -> Column:
    """From 1, and 1 where there is nothing. Rounded first: 0.07 * 100 is 7.000000000000001 in binary."""
    return F.greatest(F.ceil(F.round(F.size(pairs) * F.lit(q), 9)), F.lit(1)).cast("int")


def with_quantiles(cases: DataFrame) -> DataFrame:
    """Adds `median`, `p25`, `p75`, ... of the column `pairs`, each with `_is_bound`."""
    pairs = F.col("pairs")
    columns = {"median": middle(pairs), "median_is_bound": middle_is_bound(pairs)}
    for q in QUANTILES:
        columns[f"p{q * 100:.0f}"] = quantile(pairs, q)
        columns[f"p{q * 100:.0f}_is_bound"] = quantile_is_bound(pairs, q)
    return cases.withColumns(columns)
