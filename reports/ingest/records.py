"""Everything a report is made of: the runs that count, what happened in them, and what was put into quarantine."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce

import pyspark.sql.functions as F  # noqa: N812
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pydantic import BaseModel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import IntegerType, StructField, StructType

from harness.records.agreement import AgreementRecord
from harness.records.event import EventRecord
from harness.records.folder import AGREEMENT, EVENTS, GROUPS, RUNS
from harness.records.group import GroupRecord
from harness.records.run import RunRecord
from reports.ingest.caching import cache_rows
from reports.ingest.cases import with_case
from reports.ingest.folders import Folder, Part
from reports.ingest.lines import (
    BLOCK,
    EXCERPT,
    FILE,
    POSITION,
    REASON,
    REJECTED,
    SUITE,
    IndexedPart,
    read_records,
    spark_uri,
    with_rejected,
)
from reports.ingest.quarantine import rejected_rows, unreadable_files, with_line_numbers
from reports.ingest.schemas import schema_of
from reports.ingest.size import Size
from reports.ingest.spans import ATTEMPT_KEY, KINDS, pair_events, spans_of, unpair_events

MODELS: dict[str, type[BaseModel]] = {
    RUNS: RunRecord,
    EVENTS: EventRecord,
    GROUPS: GroupRecord,
    AGREEMENT: AgreementRecord,
}
RANK, COUNTED_IN = "_rank", "_last"
BROADCAST_BYTES = 128 * 2**20
"""Of runs, as lines. What is sent of them is a tenth of it; more than that would have to fit into memory many times."""
LINE_COLUMNS = (FILE, BLOCK, POSITION, REASON, EXCERPT)
UNREADABLE = re.compile(r"FAILED_READ_FILE.*?reading file (\S+)\.\s")
CAUSE = re.compile(r"^Caused by: [\w.$]+: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """`runs`: one row per run, its last try. `tries`: one row per try of these runs; `lines`: folder, run and attempt
    of every line. `spans`: what took time in every try. `span_events`: of the events of the last tries those that
    tell when
    something began or ended. `groups`, `agreement`: what was said of runs together. `quarantined`: what could not be
    read. Runs, tries, groups and agreement have the name of their `case`."""

    spark: SparkSession
    size: Size
    folders: tuple[Folder, ...]
    runs: DataFrame
    tries: DataFrame
    lines: DataFrame
    span_events: DataFrame
    spans: DataFrame
    groups: DataFrame
    agreement: DataFrame
    quarantined: DataFrame
    read_events: Callable[[], DataFrame]

    def beside(self, rows: DataFrame) -> DataFrame:
        """Rows of the runs, to be joined with more of each: every core gets all of them while the runs are few."""
        runs_bytes = sum(part.size_bytes for folder in self.folders for part in folder.parts[RUNS])
        return F.broadcast(rows) if runs_bytes < BROADCAST_BYTES else rows

    @property
    def events(self) -> DataFrame:
        """Every event of the last tries: no table needs them all, so they are read anew."""
        return self.read_events()


@dataclass(kw_only=True)
class ReadResult:
    """One kind of record on its way in: the rows that are records, what was set aside, and the files to read."""

    records: DataFrame
    rejected: list[DataFrame] = field(default_factory=list)
    parts: Sequence[IndexedPart] = ()


def read_folders(spark: SparkSession, folders: Sequence[Folder], size: Size = Size.SMALL) -> Records:
    """The records of result folders, as one. Raises what Spark raises, but for files that it cannot read."""
    with ThreadPoolExecutor(max_workers=len(MODELS)) as pool:  # planning a small query is most of its work
        pending = {kind: pool.submit(read_kind, spark, folders, kind, size) for kind in MODELS}
        read = {kind: made.result() for kind, made in pending.items()}
    lines = read[RUNS].records
    tries = lines.where(F.col(SUITE) == F.col(COUNTED_IN)).drop(COUNTED_IN)
    runs = tries.where(F.col(RANK) == 1).drop(RANK)
    pairs = read[EVENTS].records
    unreadable_parts = [
        (suite, part, reason) for suite, folder in enumerate(folders) for part, reason in folder.unreadable_parts
    ]
    rejected = [one for reading in read.values() for one in reading.rejected]
    return Records(
        spark=spark,
        size=size,
        folders=tuple(folders),
        runs=runs,
        tries=tries.drop(RANK),
        lines=lines.select(SUITE, "run_id", "attempt"),
        span_events=pairs.transform(events_of_counted_attempts, runs).transform(unpair_events),
        spans=pairs.transform(spans_of),
        groups=read[GROUPS].records,
        agreement=read[AGREEMENT].records,
        quarantined=reduce(DataFrame.unionByName, rejected, unreadable_files(spark, unreadable_parts)),
        read_events=lambda: every_event(spark, read[EVENTS].parts).transform(events_of_counted_attempts, runs),
    )


def every_event(spark: SparkSession, parts: Sequence[IndexedPart]) -> DataFrame:
    if not parts:
        return empty_frame(spark, EVENTS)
    judged = read_records(spark, parts, EventRecord)
    return judged.where(F.col(REASON).isNull()).drop(*LINE_COLUMNS)


def read_kind(spark: SparkSession, folders: Sequence[Folder], kind: str, size: Size) -> ReadResult:
    """The records of one kind. A file that cannot be read through is set aside whole, and the others read again."""
    parts: list[IndexedPart] = [(suite, part) for suite, folder in enumerate(folders) for part in folder.parts[kind]]
    unreadable_parts: list[tuple[int, Part, str]] = []
    while True:
        if not parts:
            return empty_result(spark, kind, unreadable_parts)
        try:
            reading = read_parts(spark, parts, kind, size)
            break
        except (Py4JJavaError, PySparkException) as error:
            found = find_unreadable_part(spark, parts, error)
            if found is None:
                raise
            unreadable_parts.append(found)
            parts = [one for one in parts if one[1] != found[1]]
    if unreadable_parts:
        reading.rejected.append(unreadable_files(spark, unreadable_parts))
    return reading


def read_parts(spark: SparkSession, parts: Sequence[IndexedPart], kind: str, size: Size) -> ReadResult:
    """Records are made ready as they are read; what is none of them stays beside them."""
    fit, ready = ROW_TRANSFORMS.get(kind, unchanged), RECORD_TRANSFORMS[kind]
    found = read_records(spark, parts, MODELS[kind]).transform(fit).transform(with_rejected)
    made, bad = cache_rows(spark, found.transform(ready), size)
    records = made.where(F.col(REJECTED).isNull()).drop(REJECTED) if bad else made.drop(REJECTED)
    rejected = [made.transform(rejected_rows).transform(with_line_numbers, spark, parts)] if bad else []
    return ReadResult(records=records, rejected=rejected, parts=parts)


def unchanged(rows: DataFrame) -> DataFrame:
    return rows


def span_events_or_rejected(judged: DataFrame) -> DataFrame:
    """Other events say that something happened, not how long it took: a report does not keep those."""
    return judged.where(F.col("kind").isin(*KINDS) | F.col(REASON).isNotNull())


def empty_result(spark: SparkSession, kind: str, unreadable_parts: Sequence[tuple[int, Part, str]]) -> ReadResult:
    judged = empty_frame(spark, kind).withColumn(REJECTED, F.lit(None).cast("string"))
    records = judged.transform(RECORD_TRANSFORMS[kind]).drop(REJECTED)
    return ReadResult(records=records, rejected=[unreadable_files(spark, unreadable_parts)] if unreadable_parts else [])


def empty_frame(spark: SparkSession, kind: str) -> DataFrame:
    """As many records as there are where no file is. Spark sees that these are none, and plans nothing for them."""
    places = [StructField(SUITE, IntegerType())]
    if kind == RUNS:
        places += [StructField(RANK, IntegerType()), StructField(COUNTED_IN, IntegerType())]
    schema = StructType([*places, *schema_of(MODELS[kind]).fields])
    return spark.createDataFrame(to_arrow_schema(schema).empty_table(), schema)


def find_unreadable_part(
    spark: SparkSession, parts: Sequence[IndexedPart], error: Exception
) -> tuple[int, Part, str] | None:
    """The file that Spark could not read, if that is what went wrong, and why."""
    message = str(error)
    named = UNREADABLE.search(message)
    if named is None:
        return None
    uri = re.sub("^file:/+", "file:/", named[1])
    suite, part = next((found for found in parts if spark_uri(spark, found[1]) == uri), (0, None))
    causes = CAUSE.findall(message)
    reason = "cannot be read: " + (causes[-1].strip() if causes else "Spark did not say why")
    return None if part is None else (suite, part, reason)


def with_attempt_rank(judged: DataFrame) -> DataFrame:
    """Adds RANK to the tries of a run: 1 is the one that counts; and COUNTED_IN, the folder in which it counts.

    A run that was too noisy is tried again, and a folder may be copied: of several lines the highest attempt counts, of
    equal ones that of the folder that was named last, and there the later line.
    """
    newest = [F.desc(name) for name in ("attempt", SUITE, BLOCK, POSITION)]
    newest_first = Window.partitionBy("run_id", F.col(REASON).isNull()).orderBy(*newest)
    return judged.withColumns({RANK: F.row_number().over(newest_first), COUNTED_IN: F.first(SUITE).over(newest_first)})


def events_of_counted_attempts(events: DataFrame, runs: DataFrame) -> DataFrame:
    """Events of the tries that count; those of earlier tries and of runs that never ended are left out."""
    return events.join(F.broadcast(runs.select(*ATTEMPT_KEY)), on=[*ATTEMPT_KEY], how="left_semi")


ROW_TRANSFORMS = {RUNS: with_attempt_rank, EVENTS: span_events_or_rejected}
"""What is done to the rows of a kind as they are read."""
RECORD_TRANSFORMS = {EVENTS: pair_events, RUNS: with_case, GROUPS: with_case, AGREEMENT: with_case}
"""What every table would do to its records first: done once, and this alone is kept."""
