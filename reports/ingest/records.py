"""Everything a report is made of: the runs that count, their events, and what was put into quarantine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame, SparkSession, Window

from harness.records.event import EventRecord
from harness.records.folder import EVENTS, RUNS
from harness.records.run import RunRecord
from reports.ingest.lines import SUITE, read_records, sort


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """`runs`: one row per run, its last try. `events`: those of these tries alone. `quarantined`: unreadable lines."""

    runs: DataFrame
    events: DataFrame
    quarantined: DataFrame


def read_folders(spark: SparkSession, folders: Sequence[Path]) -> Records:
    """The records of result folders, as one."""
    runs = sort(read_once(spark, read_records(spark, folders, RUNS, RunRecord)), RUNS, RunRecord)
    events = sort(read_records(spark, folders, EVENTS, EventRecord), EVENTS, EventRecord)
    counted = runs.records.transform(last_tries)
    return Records(
        runs=counted,
        events=events.records.transform(of_runs, counted),
        quarantined=runs.quarantined.unionByName(events.quarantined),
    )


def read_once(spark: SparkSession, runs: DataFrame) -> DataFrame:
    """The same rows, but read and checked now: every table begins with them, and they are few. By way of Arrow,
    because Spark's own cache compiles code for each of their hundred columns first."""
    return spark.createDataFrame(runs.toArrow(), runs.schema)


def last_tries(runs: DataFrame) -> DataFrame:
    """A noisy run is tried again: of several tries, the highest counts."""
    newest_first = Window.partitionBy(SUITE, "run_id").orderBy(F.col("attempt").desc())
    return runs.withColumn("_rank", F.row_number().over(newest_first)).where(F.col("_rank") == 1).drop("_rank")


def of_runs(events: DataFrame, runs: DataFrame) -> DataFrame:
    """Events of the tries that count; those of earlier tries and of runs that never ended are left out."""
    return events.join(
        F.broadcast(runs.select(SUITE, "run_id", "attempt")), on=[SUITE, "run_id", "attempt"], how="left_semi"
    )
