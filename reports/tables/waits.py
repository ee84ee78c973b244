"""Where the time went: for every case and operation, how often and how long the client waited on each setting."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame, Window

from reports.ingest.lines import SUITE
from reports.ingest.records import Records
from reports.tables.base import Table
from reports.tables.cases import CASE, conclusive, with_case

RUN = (SUITE, "run_id")
SAME_WAIT = ("waiting_on", "purpose", "connection", "operation", "try_number", "broker", "address")
"""What the end of a wait repeats of its beginning."""


def waits(records: Records) -> DataFrame:
    spans = records.events.transform(wait_spans)
    return (
        records.runs.transform(with_case)
        .transform(one_row_per_operation)
        .transform(with_waits_inside, spans)
        .transform(summed_by_run)
        .transform(median_of_runs)
    )


def wait_spans(events: DataFrame) -> DataFrame:
    """One row per wait: beginnings and ends of the same wait are paired in their order. One without an end has null."""
    ends = F.col("kind") == "wait_ended"
    same = [*RUN, "source", "kind", *SAME_WAIT]
    in_order = Window.partitionBy(*same).orderBy("at_ns", "source_seq")
    numbered = (
        events.where(F.col("kind").isin("wait_started", "wait_ended"))
        .withColumn("number", F.row_number().over(in_order))
        .withColumn("began_ns", F.when(~ends, F.col("at_ns")))
        .withColumn("ended_ns", F.when(ends, F.col("at_ns")))
    )
    return (
        numbered.groupBy(*RUN, "source", *SAME_WAIT, "number")
        .agg(
            F.max("began_ns").alias("began_ns"),
            F.max("ended_ns").alias("ended_ns"),
            F.max(F.when(ends, F.col("outcome"))).alias("outcome"),
        )
        .where(F.col("began_ns").isNotNull())
    )


def one_row_per_operation(runs: DataFrame) -> DataFrame:
    """Operations of runs that tested something; `open` is the operation's own time."""
    return (
        runs.where(conclusive(F.col("verdict")))
        .select(*CASE, *RUN, F.explode("operations").alias("open"))
        .select(
            *CASE,
            *RUN,
            F.col("open.alias").alias("operation"),
            F.col("open.started_ns").alias("from_ns"),
            F.col("open.ended_ns").alias("to_ns"),
        )
    )


def with_waits_inside(operations: DataFrame, spans: DataFrame) -> DataFrame:
    """Waits that began or ended during the operation, cut to it. One that spans all of it is a timer of its own."""
    narrow = spans.select(
        *RUN,
        F.col("waiting_on").alias("setting"),
        "began_ns",
        F.coalesce("ended_ns", F.lit(2**62)).alias("ended_ns"),
        "outcome",
    )
    began = (F.col("began_ns") >= F.col("from_ns")) & (F.col("began_ns") < F.col("to_ns"))
    ended = (F.col("ended_ns") > F.col("from_ns")) & (F.col("ended_ns") <= F.col("to_ns"))
    cut_ns = F.least("ended_ns", "to_ns") - F.greatest("began_ns", "from_ns")
    return operations.join(narrow, on=list(RUN), how="inner").where(began | ended).withColumn("cut_ns", cut_ns)


def summed_by_run(rows: DataFrame) -> DataFrame:
    return rows.groupBy(*CASE, *RUN, "operation", "setting").agg(
        F.count("*").alias("count"),
        F.count_if(F.col("outcome") == "elapsed").alias("elapsed"),
        (F.sum("cut_ns") / 1e9).alias("total_s"),
    )


def median_of_runs(rows: DataFrame) -> DataFrame:
    """Medians over the runs of a case in which the setting was waited on at all; `runs` says how many these are."""
    return rows.groupBy(*CASE, "operation", "setting").agg(
        F.count("*").alias("runs"),
        *[F.percentile(name, F.lit(0.5)).alias(name) for name in ("count", "elapsed", "total_s")],
        F.min("total_s").alias("min_s"),
        F.max("total_s").alias("max_s"),
    )


TABLE = Table(
    name="waits",
    about="Time waited on each setting, by case and operation.",
    order=(*CASE, "operation", "setting"),
    make=waits,
)
