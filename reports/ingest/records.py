"""Everything a report is made of: the runs that count, what happened in them, and what was put into quarantine."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce

import pyspark.sql.functions as F  # noqa: N812
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pydantic import BaseModel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from harness.records.agreement import AgreementRecord
from harness.records.event import EventRecord
from harness.records.folder import AGREEMENT, EVENTS, GROUPS, RUNS
from harness.records.group import GroupRecord
from harness.records.run import RunRecord
from reports.ingest.folders import Folder, Part
from reports.ingest.keeping import Later, Size, kept
from reports.ingest.lines import BLOCK, PLACE, SUITE, Found, read_records, spark_uri
from reports.ingest.quarantine import bad_rows, numbered, whole_files
from reports.ingest.schemas import schema_of, with_defaults
from reports.ingest.spans import spans_of

MODELS: dict[str, type[BaseModel]] = {
    RUNS: RunRecord,
    EVENTS: EventRecord,
    GROUPS: GroupRecord,
    AGREEMENT: AgreementRecord,
}
UNREADABLE = re.compile(r"FAILED_READ_FILE.*?reading file (\S+)\.\s")
CAUSE = re.compile(r"^Caused by: [\w.$]+: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """`runs`: one row per run, its last try. `tries`: one row per try of these runs; `lines`: folder, run and attempt
    of every line. `events`: those of the last tries alone, `spans` what in them took time. `groups`, `agreement`: what
    was said of runs together. `quarantined`: what could not be read."""

    spark: SparkSession
    size: Size
    folders: tuple[Folder, ...]
    runs: DataFrame
    tries: DataFrame
    lines: DataFrame
    events: DataFrame
    spans: Later
    groups: DataFrame
    agreement: DataFrame
    quarantined: DataFrame


@dataclass(kw_only=True)
class Reading:
    """One kind of record on its way in: the rows that are records, and what was set aside."""

    records: DataFrame
    aside: list[DataFrame] = field(default_factory=list)


def read_folders(spark: SparkSession, folders: Sequence[Folder], size: Size = Size.SMALL) -> Records:
    """The records of result folders, as one. Raises what Spark raises, but for files that it cannot read."""
    with ThreadPoolExecutor(max_workers=len(MODELS)) as pool:  # planning a small query is most of its work
        pending = {kind: pool.submit(read_kind, spark, folders, kind, size) for kind in MODELS}
        read = {kind: made.result() for kind, made in pending.items()}
    tries = read[RUNS].records.transform(same_suite_as_last)
    runs = tries.where(F.col("_rank") == 1).drop("_rank", BLOCK, PLACE)
    events = read[EVENTS].records.drop(BLOCK, PLACE).transform(of_runs, runs)
    unread = [(suite, part, reason) for suite, folder in enumerate(folders) for part, reason in folder.unread]
    aside = [one for reading in read.values() for one in reading.aside]
    return Records(
        spark=spark,
        size=size,
        folders=tuple(folders),
        runs=runs,
        tries=tries.drop("_rank", BLOCK, PLACE),
        lines=read[RUNS].records.select(SUITE, "run_id", "attempt"),
        events=events,
        spans=Later(spark, events.transform(spans_of), size),
        groups=read[GROUPS].records.drop(BLOCK, PLACE),
        agreement=read[AGREEMENT].records.drop(BLOCK, PLACE),
        quarantined=reduce(DataFrame.unionByName, aside, whole_files(spark, unread)),
    )


def read_kind(spark: SparkSession, folders: Sequence[Folder], kind: str, size: Size) -> Reading:
    """The records of one kind. A file that cannot be read through is set aside whole, and the others read again."""
    model = MODELS[kind]
    parts: list[Found] = [(suite, part) for suite, folder in enumerate(folders) for part in folder.parts[kind]]
    unread: list[tuple[int, Part, str]] = []
    while True:
        if not parts:
            return nothing(spark, model, unread)
        try:
            judged, bad = kept_in_one_go(spark, parts, model, size)
            break
        except (Py4JJavaError, PySparkException) as error:
            found = unreadable_among(spark, parts, error)
            if found is None:
                raise
            unread.append(found)
            parts = [one for one in parts if one[1] != found[1]]
    good = judged.where(F.col("reason").isNull())
    reading = Reading(records=good.select(SUITE, BLOCK, PLACE, *with_defaults(model, F.col("row"))))
    if bad:
        reading.aside.append(judged.transform(bad_rows).transform(numbered, spark, parts))
    if unread:
        reading.aside.append(whole_files(spark, unread))
    return reading


def kept_in_one_go(
    spark: SparkSession, parts: Sequence[Found], model: type[BaseModel], size: Size
) -> tuple[DataFrame, int]:
    """As `kept`: many records are read the fast way, and once more line by line where there is something to tell."""
    if size is Size.LARGE:
        judged, bad = kept(spark, read_records(spark, parts, model, in_one_go=True), size)
        if not bad:
            return judged, bad
        judged.unpersist()
    return kept(spark, read_records(spark, parts, model), size)


def nothing(spark: SparkSession, model: type[BaseModel], unread: Sequence[tuple[int, Part, str]]) -> Reading:
    places = [StructField(SUITE, IntegerType()), StructField(BLOCK, LongType()), StructField(PLACE, LongType())]
    records = spark.createDataFrame([], StructType([*places, *schema_of(model).fields]))
    return Reading(records=records, aside=[whole_files(spark, unread)] if unread else [])


def unreadable_among(spark: SparkSession, parts: Sequence[Found], error: Exception) -> tuple[int, Part, str] | None:
    """The file that Spark could not read, if that is what went wrong, and why."""
    told = str(error)
    named = UNREADABLE.search(told)
    if named is None:
        return None
    uri = re.sub("^file:/+", "file:/", named[1])
    suite, part = next((found for found in parts if spark_uri(spark, found[1]) == uri), (0, None))
    causes = CAUSE.findall(told)
    reason = "cannot be read: " + (causes[-1].strip() if causes else "Spark did not say why")
    return None if part is None else (suite, part, reason)


def same_suite_as_last(tries: DataFrame) -> DataFrame:
    """Tries of the folder in which a run counts, with their `_rank`: 1 is the one that counts.

    A run that was too noisy is tried again, and a folder may be copied: of several lines the highest attempt counts, of
    equal ones that of the folder that was named last, and there the later line.
    """
    newest_first = Window.partitionBy("run_id").orderBy(F.desc("attempt"), F.desc(SUITE), F.desc(BLOCK), F.desc(PLACE))
    ranked = tries.withColumns(
        {"_rank": F.row_number().over(newest_first), "_suite": F.first(SUITE).over(newest_first)}
    )
    return ranked.where(F.col(SUITE) == F.col("_suite")).drop("_suite")


def of_runs(events: DataFrame, runs: DataFrame) -> DataFrame:
    """Events of the tries that count; those of earlier tries and of runs that never ended are left out."""
    return events.join(
        F.broadcast(runs.select(SUITE, "run_id", "attempt")), on=[SUITE, "run_id", "attempt"], how="left_semi"
    )
