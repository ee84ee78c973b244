"""What each run tried: attempts to deliver, dials and metadata refreshes, how they ended, and how long they took."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame, Window

from reports.ingest.records import Records
from reports.ingest.spans import ATTEMPT_KEY, RUN_KEY
from reports.tables.base import Table
from reports.tables.cases import CASE_COLUMNS

TRIED = ("attempt", "dial", "refresh")
SEEN_ON_WIRE = "seen on the wire"
KEY = (*CASE_COLUMNS, *RUN_KEY, "repeat", "verdict", "operation", "tried", "outcome")


def attempts(records: Records) -> DataFrame:
    tried = records.spans.where(F.col("what").isin(*TRIED)).transform(with_outcome)
    runs = records.runs.select(*CASE_COLUMNS, *ATTEMPT_KEY, "repeat", "verdict", "operations")
    return records.beside(runs).transform(with_run, tried).transform(aggregate).transform(without_duplicate_dials)


def with_outcome(spans: DataFrame) -> DataFrame:
    """The wire shows dials of programs that tell nothing: when they began, and no more."""
    ended = F.coalesce("outcome", F.lit("ended"))
    outcome = F.when(F.col("seen"), SEEN_ON_WIRE).when(F.col("ended_ns").isNull(), "unended").otherwise(ended)
    own = F.col("operation").alias("own")
    return spans.select(
        *ATTEMPT_KEY, F.col("what").alias("tried"), own, "began_ns", "ended_ns", outcome.alias("outcome"), "error"
    )


def with_run(runs: DataFrame, tried: DataFrame) -> DataFrame:
    """The tries with their run, and the operation during which they began: null between operations."""
    during = F.filter(
        "operations",
        lambda one: (one["started_ns"] <= F.col("began_ns")) & (F.col("began_ns") < one["ended_ns"]),
    )
    return (
        tried.join(runs, on=list(ATTEMPT_KEY), how="inner")
        .withColumn("operation", F.coalesce("own", F.get(during, F.lit(0))["alias"]))
        .withColumn("took_ns", F.col("ended_ns") - F.col("began_ns"))
    )


def aggregate(tries: DataFrame) -> DataFrame:
    """`seconds` of all together; null where no end was seen."""
    return tries.groupBy(*KEY).agg(
        F.count("*").alias("count"),
        (F.sum("took_ns") / 1e9).alias("seconds"),
        (F.min("took_ns") / 1e9).alias("min_s"),
        (F.max("took_ns") / 1e9).alias("max_s"),
        F.sort_array(F.collect_set("error")).alias("errors"),
    )


def without_duplicate_dials(sums: DataFrame) -> DataFrame:
    """The wire shows the dials of a client that tells of them too: there what it tells counts, as in the measures."""
    tells = F.max((F.col("tried") == "dial") & (F.col("outcome") != SEEN_ON_WIRE)).over(Window.partitionBy(*RUN_KEY))
    return sums.withColumn("tells", tells).where((F.col("outcome") != SEEN_ON_WIRE) | ~F.col("tells")).drop("tells")


TABLE = Table(
    name="attempts",
    about="Attempts, dials and refreshes of each run: how many, how they ended, how long they took.",
    order=KEY,
    make=attempts,
)
