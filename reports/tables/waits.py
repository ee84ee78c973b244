"""Where the time went: for every case and operation, how often and how long the client waited on each setting."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from reports.ingest.records import Records
from reports.ingest.spans import ATTEMPT_KEY, RUN_KEY
from reports.tables.base import Table
from reports.tables.cases import CASE_COLUMNS, conclusive


def waits(records: Records) -> DataFrame:
    every_wait = records.spans.where(F.col("what") == "wait")
    return (
        records.beside(records.runs.transform(one_row_per_operation))
        .transform(with_waits_inside, every_wait)
        .transform(summed_by_run)
        .transform(median_of_runs)
    )


def one_row_per_operation(runs: DataFrame) -> DataFrame:
    """Operations of runs that tested something; `open` is the operation's own time."""
    return (
        runs.where(conclusive(F.col("verdict")))
        .select(*CASE_COLUMNS, *ATTEMPT_KEY, F.explode("operations").alias("open"))
        .select(
            *CASE_COLUMNS,
            *ATTEMPT_KEY,
            F.col("open.alias").alias("operation"),
            F.col("open.started_ns").alias("from_ns"),
            F.col("open.ended_ns").alias("to_ns"),
        )
    )


def with_waits_inside(operations: DataFrame, every_wait: DataFrame) -> DataFrame:
    """Waits that began or ended during the operation, cut to it. A wait that spans all of it is another timer."""
    narrow = every_wait.select(
        *ATTEMPT_KEY,
        F.col("waiting_on").alias("setting"),
        "began_ns",
        F.coalesce("ended_ns", F.lit(2**62)).alias("ended_ns"),
        "outcome",
    )
    began = (F.col("began_ns") >= F.col("from_ns")) & (F.col("began_ns") < F.col("to_ns"))
    ended = (F.col("ended_ns") > F.col("from_ns")) & (F.col("ended_ns") <= F.col("to_ns"))
    cut_ns = F.least("ended_ns", "to_ns") - F.greatest("began_ns", "from_ns")
    return narrow.join(operations, on=list(ATTEMPT_KEY), how="inner").where(began | ended).withColumn("cut_ns", cut_ns)


def summed_by_run(rows: DataFrame) -> DataFrame:
    return rows.groupBy(*CASE_COLUMNS, *RUN_KEY, "operation", "setting").agg(
        F.count("*").alias("count"),
        F.count_if(F.col("outcome") == "elapsed").alias("elapsed"),
        (F.sum("cut_ns") / 1e9).alias("total_s"),
    )


def median_of_runs(rows: DataFrame) -> DataFrame:
    """Medians over the runs of a case in which the setting was waited on at all; `runs` says how many these are."""
    return rows.groupBy(*CASE_COLUMNS, "operation", "setting").agg(
        F.count("*").alias("runs"),
        *[F.percentile(name, F.lit(0.5)).alias(name) for name in ("count", "elapsed", "total_s")],
        F.min("total_s").alias("min_s"),
        F.max("total_s").alias("max_s"),
    )


TABLE = Table(
    name="waits",
    about="Time waited on each setting, by case and operation.",
    order=(*CASE_COLUMNS, "operation", "setting"),
    make=waits,
)
