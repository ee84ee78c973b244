"""Beginnings and ends of the same thing, paired: how long a wait, a dial or an attempt took, and how it ended."""

from collections.abc import Sequence

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from reports.ingest.lines import SUITE

RUN = (SUITE, "run_id")


def spans(events: DataFrame, what: str, same: Sequence[str]) -> DataFrame:
    """One row per `<what>_started`: with `began_ns`, and where it ended `ended_ns`, `outcome` and `error`.

    An end repeats the columns `same` of its beginning; of several alike in a run, the first ends first.
    """
    ends = F.col("kind") == f"{what}_ended"
    begun = F.struct("at_ns", "source_seq")
    ended = F.struct("at_ns", "source_seq", "outcome", "error")
    return (
        events.where(F.col("kind").isin(f"{what}_started", f"{what}_ended"))
        .groupBy(*RUN, "source", *same)
        .agg(
            F.array_sort(F.collect_list(F.when(~ends, begun))).alias("begun"),
            F.array_sort(F.collect_list(F.when(ends, ended))).alias("ended"),
        )
        .select(*RUN, "source", *same, F.explode(F.arrays_zip("begun", "ended")).alias("pair"))
        .where(F.col("pair.begun").isNotNull())
        .select(
            *RUN,
            "source",
            *same,
            F.col("pair.begun.at_ns").alias("began_ns"),
            F.col("pair.ended.at_ns").alias("ended_ns"),
            F.col("pair.ended.outcome").alias("outcome"),
            F.col("pair.ended.error").alias("error"),
        )
    )
