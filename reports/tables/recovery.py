"""Recovery: when a client worked again after a fault was healed, beside how long the fault had lasted."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Column, DataFrame

from reports.ingest.records import Records
from reports.tables.base import Table
from reports.tables.cases import CASE_COLUMNS, conclusive
from reports.tables.medians import observation, with_quantiles

MEASURES = ("recovery", "outage", "time_to_ack")
ROW = (*CASE_COLUMNS, "measure", "alias", "what", "fault", "unit")


def recovery(records: Records) -> DataFrame:
    return (
        records.runs.transform(one_row_per_measure)
        .transform(with_fault)
        .transform(acknowledged_during_or_after_fault)
        .transform(with_observation)
        .transform(aggregate)
        .transform(with_quantiles)
    )


def one_row_per_measure(runs: DataFrame) -> DataFrame:
    wanted = F.filter("measures", lambda one: F.substring_index(one["name"], ".", -1).isin(*MEASURES))
    return runs.select(
        *CASE_COLUMNS, "run_id", "repeat", "verdict", "faults", "operations", F.explode(wanted).alias("found")
    ).select(
        "*",
        F.col("found.name").alias("measure"),
        F.substring_index("found.name", ".", 1).alias("alias"),
        F.substring_index("found.name", ".", -1).alias("what"),
        "found.unit",
        "found.missing",
    )


def with_fault(rows: DataFrame) -> DataFrame:
    """Adds `healed`, the fault that the measure speaks of (of an acknowledgement: the last that was healed), and
    `called`, the operation where it speaks of one."""
    own = F.filter("faults", lambda one: one["alias"] == F.col("alias"))
    ever = F.filter("faults", lambda one: one["healed_ns"].isNotNull())
    last = F.get(F.filter(ever, lambda one: one["healed_ns"] == F.array_max(F.transform(ever, healed_ns))), F.lit(0))
    called = F.filter("operations", lambda one: one["alias"] == F.col("alias"))
    return (
        rows.withColumn("healed", F.when(F.col("what") == "time_to_ack", last).otherwise(F.get(own, F.lit(0))))
        .withColumn("called", F.get(called, F.lit(0)))
        .withColumn("fault", F.col("healed.fault"))
        .drop("faults", "operations")
    )


def acknowledged_during_or_after_fault(rows: DataFrame) -> DataFrame:
    """Without the messages that were acknowledged before any fault was there."""
    after = F.col("called.ended_ns") > F.col("healed.confirmed_ns")
    return rows.where((F.col("what") != "time_to_ack") | after)


def healed_ns(fault: Column) -> Column:
    return fault["healed_ns"]


def with_observation(rows: DataFrame) -> DataFrame:
    """Adds `pair`, what the run contributes, and `point`, the same beside its times of healing."""
    pair = observation(F.col("found.value"), F.col("found.censored_at"))
    point = F.struct(
        ((F.col("healed.healed_ns") - F.col("healed.confirmed_ns")) / 1e9).alias("dark_s"),
        F.col("pair.time").alias("time"),
        F.col("pair.unended").alias("unended"),
        ((F.col("healed.healed_ns") - F.col("called.started_ns")) / 1e9).alias("healed_after_call_s"),
        "repeat",
        "run_id",
    )
    return rows.withColumn("pair", F.when(conclusive(F.col("verdict")), pair)).withColumn(
        "point", F.when(F.col("pair").isNotNull(), point)
    )


def aggregate(rows: DataFrame) -> DataFrame:
    """`dark_s` is how long the fault had lasted when it was healed; `points` has a run each, the shortest first."""
    return rows.groupBy(*ROW).agg(
        F.count("*").alias("n"),
        F.sort_array(F.collect_list("pair")).alias("pairs"),
        F.sort_array(F.collect_list("point")).alias("points"),
        F.count_if(F.col("pair.unended")).alias("censored"),
        F.min("pair.time").alias("min"),
        F.max("pair.time").alias("max"),
        F.percentile("point.dark_s", F.lit(0.5)).alias("dark_s"),
        F.min("point.dark_s").alias("dark_min_s"),
        F.max("point.dark_s").alias("dark_max_s"),
        F.sort_array(F.collect_set("missing")).alias("missing"),
    )


TABLE = Table(
    name="recovery",
    about="When clients worked again after healing, beside how long the fault had lasted.",
    order=ROW,
    make=recovery,
)
