"""What each run tried: attempts to deliver, dials and metadata refreshes, how they ended, and how long they took."""

from functools import reduce

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from reports.ingest.records import Records
from reports.tables.base import Table
from reports.tables.cases import CASE, with_case
from reports.tables.spans import RUN, spans

TRIED = {
    "attempt": ("operation", "try_number"),
    "dial": ("connection", "broker", "address"),
    "refresh": ("try_number",),
}
"""What was tried, and what the end of a try repeats of its beginning."""
KEY = (*CASE, *RUN, "repeat", "verdict", "operation", "tried", "outcome")


def attempts(records: Records) -> DataFrame:
    tried = reduce(DataFrame.unionByName, [*(every(records.events, what) for what in TRIED), seen(records.events)])
    return records.runs.transform(with_case).transform(of_runs, tried).transform(summed_up)


def every(events: DataFrame, what: str) -> DataFrame:
    """One row per try. `own` is the operation that it was made for, where the client says so."""
    found = spans(events, what, TRIED[what])
    own = F.col("operation") if "operation" in TRIED[what] else F.lit(None).cast("string")
    return found.select(
        *RUN,
        F.lit(what).alias("tried"),
        own.alias("own"),
        "began_ns",
        "ended_ns",
        F.when(F.col("ended_ns").isNull(), "unended").otherwise(F.coalesce("outcome", F.lit("ended"))).alias("outcome"),
        "error",
    )


def seen(events: DataFrame) -> DataFrame:
    """Dials of programs that tell nothing, as the wire showed them: when they began, and no more."""
    nothing = F.lit(None)
    return events.where(F.col("kind") == "dial_seen").select(
        *RUN,
        F.lit("dial").alias("tried"),
        nothing.cast("string").alias("own"),
        F.col("at_ns").alias("began_ns"),
        nothing.cast("long").alias("ended_ns"),
        F.lit("seen on the wire").alias("outcome"),
        nothing.cast("string").alias("error"),
    )


def of_runs(runs: DataFrame, tried: DataFrame) -> DataFrame:
    """The tries with their run, and the operation during which they began: null between operations."""
    during = F.filter(
        "operations",
        lambda one: (one["started_ns"] <= F.col("began_ns")) & (F.col("began_ns") < one["ended_ns"]),
    )
    return (
        runs.select(*CASE, *RUN, "repeat", "verdict", "operations")
        .join(tried, on=list(RUN), how="inner")
        .withColumn("operation", F.coalesce("own", F.get(during, F.lit(0))["alias"]))
        .withColumn("took_ns", F.col("ended_ns") - F.col("began_ns"))
    )


def summed_up(tries: DataFrame) -> DataFrame:
    """`seconds` of all together; null where no end was seen."""
    return tries.groupBy(*KEY).agg(
        F.count("*").alias("count"),
        (F.sum("took_ns") / 1e9).alias("seconds"),
        (F.min("took_ns") / 1e9).alias("min_s"),
        (F.max("took_ns") / 1e9).alias("max_s"),
        F.array_sort(F.collect_set("error")).alias("errors"),
    )


TABLE = Table(
    name="attempts",
    about="Attempts, dials and refreshes of each run: how many, how they ended, how long they took.",
    order=KEY,
    make=attempts,
)
