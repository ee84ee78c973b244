"""The timeout table: for every case and measure, what was predicted, what was measured, and the outcome."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Column, DataFrame

from reports.ingest.records import Records
from reports.ingest.spans import RUN_KEY
from reports.tables.base import Table
from reports.tables.cases import CASE_COLUMNS, conclusive
from reports.tables.medians import observation, with_quantiles

OUTCOMES = ("held", "failed", "inconclusive", "unjudged")
ROW = (*CASE_COLUMNS, "measure", "unit")
EXPECTATION_COLUMNS = ("kind", "formula", "source", "predicted", "low", "high", "terms", "line")


def timeouts(records: Records) -> DataFrame:
    return (
        records.runs.transform(one_row_per_measure)
        .transform(with_expectation)
        .transform(with_observation)
        .transform(aggregate)
        .transform(with_expectation_columns)
        .transform(with_quantiles)
    )


def one_row_per_measure(runs: DataFrame) -> DataFrame:
    return runs.select(
        *CASE_COLUMNS, *RUN_KEY, "about", "verdict", "expectations", F.explode("measures").alias("found")
    ).select(
        "*", F.col("found.name").alias("measure"), "found.unit", "found.value", "found.censored_at", "found.missing"
    )


def with_expectation(rows: DataFrame) -> DataFrame:
    """Adds `judged`, the expectation that stands for the measure, and `outcome`, the most severe of all of them."""
    about_it = expectations_of_measure()
    return (
        rows.withColumn("about_it", about_it)
        .withColumn("judged", representative_expectation(F.col("about_it")))
        .withColumn("outcome", worst_outcome(F.col("about_it")))
        .drop("about_it", "expectations", "found")
    )


def expectations_of_measure() -> Column:
    measure = F.col("measure")
    return F.filter(
        "expectations",
        lambda one: (one["measure"] == measure) & (one["kind"] != "claim") & (one["outcome"] != "skipped"),
    )


def representative_expectation(expectations: Column) -> Column:
    """An equality says more than a bound; of several, the first in the scenario."""
    equalities = F.filter(expectations, lambda one: one["kind"] == "equals")
    return F.coalesce(F.get(equalities, F.lit(0)), F.get(expectations, F.lit(0)))


def worst_outcome(expectations: Column) -> Column:
    def some(outcome: str) -> Column:
        return F.exists(expectations, lambda one: one["outcome"] == outcome)

    return (
        F.when(some("failed"), "failed")
        .when(some("inconclusive"), "inconclusive")
        .when(some("held"), "held")
        .otherwise("unjudged")
    )


def with_observation(rows: DataFrame) -> DataFrame:
    """Adds `pair`: what the run contributes, null where it tested nothing or measured nothing."""
    outcome = F.col("outcome")
    tells = outcome.isin("held", "failed") | ((outcome == "unjudged") & conclusive(F.col("verdict")))
    return rows.withColumn("pair", F.when(tells, observation(F.col("value"), F.col("censored_at"))))


def aggregate(rows: DataFrame) -> DataFrame:
    """What is expected stands once: a scenario that was changed between two folders says what the last of them says."""
    judged = F.max_by("judged", F.when(F.col("judged").isNotNull(), F.struct(*RUN_KEY)))
    outcomes = [F.count_if(F.col("outcome") == outcome).alias(outcome) for outcome in OUTCOMES]
    return rows.groupBy(*ROW).agg(
        F.count("*").alias("n"),
        judged.alias("judged"),
        F.max_by("about", F.struct(*RUN_KEY)).alias("about"),
        F.sort_array(F.collect_list("pair")).alias("pairs"),
        F.min("pair.time").alias("min"),
        F.max("pair.time").alias("max"),
        F.count_if(F.col("pair.unended")).alias("censored"),
        *outcomes,
        F.sort_array(F.collect_set("missing")).alias("missing"),
    )


def with_expectation_columns(rows: DataFrame) -> DataFrame:
    stated = {name: F.col("judged")[name] for name in EXPECTATION_COLUMNS}
    return rows.withColumns(stated).drop("judged")


TABLE = Table(name="timeouts", about="Predicted and measured, for every case and measure.", order=ROW, make=timeouts)
