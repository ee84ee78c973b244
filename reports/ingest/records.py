"""Everything a report is made of: the runs that count, their events, and what was put into quarantine."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame, SparkSession, Window

from harness.records.agreement import AgreementRecord
from harness.records.event import EventRecord
from harness.records.folder import AGREEMENT, EVENTS, GROUPS, RUNS
from harness.records.group import GroupRecord
from harness.records.run import RunRecord
from reports.ingest.lines import SUITE, read_records, sort


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """`runs`: one row per run, its last try. `tries`: one row per try of these runs. `events`: those of the last tries
    alone. `groups`, `agreement`: what was said of runs together. `quarantined`: unreadable lines."""

    runs: DataFrame
    tries: DataFrame
    events: DataFrame
    groups: DataFrame
    agreement: DataFrame
    quarantined: DataFrame


def read_folders(spark: SparkSession, folders: Sequence[Path]) -> Records:
    """The records of result folders, as one."""
    runs = sort(read_once(spark, read_records(spark, folders, RUNS, RunRecord)), RUNS, RunRecord)
    events = sort(read_records(spark, folders, EVENTS, EventRecord), EVENTS, EventRecord)
    groups = sort(read_records(spark, folders, GROUPS, GroupRecord), GROUPS, GroupRecord)
    agreement = sort(read_records(spark, folders, AGREEMENT, AgreementRecord), AGREEMENT, AgreementRecord)
    counted = runs.records.transform(last_tries)
    aside = (runs, events, groups, agreement)
    return Records(
        runs=counted,
        tries=runs.records,
        events=events.records.transform(of_runs, counted),
        groups=groups.records,
        agreement=agreement.records,
        quarantined=reduce(DataFrame.unionByName, (one.quarantined for one in aside)),
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
