"""The expectations: for every case, each bound with its place, what was measured, and the outcome."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from reports.ingest.records import Records
from reports.ingest.spans import RUN_KEY
from reports.tables.base import Table
from reports.tables.cases import CASE_COLUMNS
from reports.tables.medians import observation, with_quantiles

ROW = (*CASE_COLUMNS, "measure", "unit", "kind", "formula", "when", "name", "predicted", "low", "high")
"""An expectation is the same one while it says the same: it may move to another line."""
PLACE_COLUMNS = ("path", "line", "bound", "source", "terms", "about")


def expectations(records: Records) -> DataFrame:
    return (
        records.runs.transform(one_row_per_expectation)
        .transform(with_observation)
        .transform(aggregate)
        .transform(with_quantiles)
    )


def one_row_per_expectation(runs: DataFrame) -> DataFrame:
    """Those whose `when` is true."""
    applicable = F.filter("expectations", lambda one: one["outcome"] != "skipped")
    return runs.select(*CASE_COLUMNS, *RUN_KEY, "path", "about", F.explode(applicable).alias("judged")).select(
        *CASE_COLUMNS, *RUN_KEY, "path", "about", "judged.*"
    )


def with_observation(rows: DataFrame) -> DataFrame:
    """Adds `pair`: what the run contributes, null where it decided nothing."""
    pair = observation(F.col("measured"), F.col("censored_at"))
    return rows.withColumn("pair", F.when(F.col("outcome") != "inconclusive", pair))


def aggregate(rows: DataFrame) -> DataFrame:
    """`failed` are runs that it failed: of a claim those in which it turned out other than declared."""
    place = F.max_by(F.struct(*PLACE_COLUMNS), F.struct(*RUN_KEY)).alias("place")
    outcome = F.col("outcome")
    return (
        rows.groupBy(*ROW)
        .agg(
            F.count("*").alias("n"),
            place,
            F.sort_array(F.collect_list("pair")).alias("pairs"),
            F.min("pair.time").alias("min"),
            F.max("pair.time").alias("max"),
            F.count_if(F.col("pair.unended")).alias("censored"),
            F.sort_array(F.collect_set("measured_text")).alias("words"),
            F.max(F.when(outcome == "inconclusive", F.col("late_s"))).alias("late_s"),
            F.count_if(outcome == "held").alias("held"),
            F.count_if((outcome == "failed") | F.col("fails_run")).alias("failed"),
            F.count_if(outcome == "refuted").alias("refuted"),
            F.count_if(outcome == "inconclusive").alias("inconclusive"),
        )
        .select("*", "place.*")
        .drop("place")
    )


TABLE = Table(name="expectations", about="Every expectation of every case, with its bound and place.",
              order=(*CASE_COLUMNS, "line", *ROW[len(CASE_COLUMNS):]), make=expectations)  # fmt: skip
