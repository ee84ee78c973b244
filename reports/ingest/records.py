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
from reports.ingest.alone import only_records
from reports.ingest.cases import with_case
from reports.ingest.folders import Folder, Part
from reports.ingest.keeping import kept
from reports.ingest.lines import BLOCK, EXCERPT, FILE, PLACE, REASON, SUITE, Found, read_records, spark_uri
from reports.ingest.quarantine import bad_rows, numbered, whole_files
from reports.ingest.schemas import schema_of
from reports.ingest.size import Size
from reports.ingest.spans import KINDS, TRY, ends_of, pairs_of, spans_of

MODELS: dict[str, type[BaseModel]] = {
    RUNS: RunRecord,
    EVENTS: EventRecord,
    GROUPS: GroupRecord,
    AGREEMENT: AgreementRecord,
}
RANK, LAST = "_rank", "_last"
ABOUT_LINE = (FILE, BLOCK, PLACE, REASON, EXCERPT)
UNREADABLE = re.compile(r"FAILED_READ_FILE.*?reading file (\S+)\.\s")
CAUSE = re.compile(r"^Caused by: [\w.$]+: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """`runs`: one row per run, its last try. `tries`: one row per try of these runs; `lines`: folder, run and attempt
    of every line. `spans`: what took time in every try. `timed`: of the events of the last tries those that tell when
    something began or ended. `groups`, `agreement`: what was said of runs together. `quarantined`: what could not be
    read. Runs, tries, groups and agreement have the name of their `case`."""

    spark: SparkSession
    size: Size
    folders: tuple[Folder, ...]
    runs: DataFrame
    tries: DataFrame
    lines: DataFrame
    timed: DataFrame
    spans: DataFrame
    groups: DataFrame
    agreement: DataFrame
    quarantined: DataFrame
    read_events: Callable[[], DataFrame]

    @property
    def events(self) -> DataFrame:
        """Every event of the last tries: no table needs them all, so they are read anew."""
        return self.read_events()


@dataclass(kw_only=True)
class Reading:
    """One kind of record on its way in: the rows that are records, what was set aside, and the files to read."""

    records: DataFrame
    aside: list[DataFrame] = field(default_factory=list)
    parts: Sequence[Found] = ()


def read_folders(spark: SparkSession, folders: Sequence[Folder], size: Size = Size.SMALL) -> Records:
    """The records of result folders, as one. Raises what Spark raises, but for files that it cannot read."""
    with ThreadPoolExecutor(max_workers=len(MODELS)) as pool:  # planning a small query is most of its work
        pending = {kind: pool.submit(read_kind, spark, folders, kind, size) for kind in MODELS}
        read = {kind: made.result() for kind, made in pending.items()}
    lines = read[RUNS].records
    tries = lines.where(F.col(SUITE) == F.col(LAST)).drop(LAST)
    runs = tries.where(F.col(RANK) == 1).drop(RANK)
    pairs = read[EVENTS].records
    unread = [(suite, part, reason) for suite, folder in enumerate(folders) for part, reason in folder.unread]
    aside = [one for reading in read.values() for one in reading.aside]
    return Records(
        spark=spark,
        size=size,
        folders=tuple(folders),
        runs=runs,
        tries=tries.drop(RANK),
        lines=lines.select(SUITE, "run_id", "attempt"),
        timed=pairs.transform(of_runs, runs).transform(ends_of),
        spans=pairs.transform(spans_of),
        groups=read[GROUPS].records,
        agreement=read[AGREEMENT].records,
        quarantined=reduce(DataFrame.unionByName, aside, whole_files(spark, unread)),
        read_events=lambda: every_event(spark, read[EVENTS].parts, size).transform(of_runs, runs),
    )


def every_event(spark: SparkSession, parts: Sequence[Found], size: Size) -> DataFrame:
    if not parts:
        return empty(spark, EVENTS)
    fast = size is Size.LARGE and only_records(spark, parts)
    judged = read_records(spark, parts, EventRecord, in_one_go=fast)
    return judged.where(F.col(REASON).isNull()).drop(*ABOUT_LINE)


def read_kind(spark: SparkSession, folders: Sequence[Folder], kind: str, size: Size) -> Reading:
    """The records of one kind. A file that cannot be read through is set aside whole, and the others read again."""
    parts: list[Found] = [(suite, part) for suite, folder in enumerate(folders) for part in folder.parts[kind]]
    unread: list[tuple[int, Part, str]] = []
    while True:
        if not parts:
            return nothing(spark, kind, unread)
        try:
            reading = read_through(spark, parts, kind, size)
            break
        except (Py4JJavaError, PySparkException) as error:
            found = unreadable_among(spark, parts, error)
            if found is None:
                raise
            unread.append(found)
            parts = [one for one in parts if one[1] != found[1]]
    if unread:
        reading.aside.append(whole_files(spark, unread))
    return reading


def read_through(spark: SparkSession, parts: Sequence[Found], kind: str, size: Size) -> Reading:
    """Records are made ready as they are read, many of them the fast way; and once more, line by line, where there is
    something to tell of a line."""
    model, fit, ready = MODELS[kind], FIT.get(kind, unchanged), READY[kind]
    fast = size is Size.LARGE
    with ThreadPoolExecutor(max_workers=1) as looking:
        one_each = looking.submit(lambda: not fast or only_records(spark, parts))
        found = read_records(spark, parts, model, in_one_go=fast).transform(fit)
        made, bad = kept(spark, found.drop(FILE, BLOCK, PLACE, EXCERPT).transform(ready), size)
    if not bad and one_each.result():
        return Reading(records=made.drop(REASON), parts=parts)
    made.unpersist()
    judged, _ = kept(spark, read_records(spark, parts, model).transform(fit), size)
    good = judged.where(F.col(REASON).isNull()).drop(FILE, BLOCK, PLACE, EXCERPT)
    records, _ = kept(spark, good.transform(ready), size)
    told = judged.transform(bad_rows).transform(numbered, spark, parts)
    return Reading(records=records.drop(REASON), aside=[told], parts=parts)


def unchanged(rows: DataFrame) -> DataFrame:
    return rows


def timed_or_bad(judged: DataFrame) -> DataFrame:
    """Other events say that something happened, not how long it took: a report does not keep those."""
    return judged.where(F.col("kind").isin(*KINDS) | F.col(REASON).isNotNull())


def nothing(spark: SparkSession, kind: str, unread: Sequence[tuple[int, Part, str]]) -> Reading:
    judged = empty(spark, kind).withColumn(REASON, F.lit(None).cast("string"))
    records = judged.transform(READY[kind]).drop(REASON)
    return Reading(records=records, aside=[whole_files(spark, unread)] if unread else [])


def empty(spark: SparkSession, kind: str) -> DataFrame:
    """As many records as there are where no file is. Spark sees that these are none, and plans nothing for them."""
    places = [StructField(SUITE, IntegerType())]
    if kind == RUNS:
        places += [StructField(RANK, IntegerType()), StructField(LAST, IntegerType())]
    schema = StructType([*places, *schema_of(MODELS[kind]).fields])
    return spark.createDataFrame(to_arrow_schema(schema).empty_table(), schema)


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


def ranked(judged: DataFrame) -> DataFrame:
    """Adds RANK to the tries of a run: 1 is the one that counts; and LAST, the folder in which it counts.

    A run that was too noisy is tried again, and a folder may be copied: of several lines the highest attempt counts, of
    equal ones that of the folder that was named last, and there the later line.
    """
    newest = [F.desc(name) for name in ("attempt", SUITE, BLOCK, PLACE)]
    newest_first = Window.partitionBy("run_id", F.col(REASON).isNull()).orderBy(*newest)
    return judged.withColumns({RANK: F.row_number().over(newest_first), LAST: F.first(SUITE).over(newest_first)})


def of_runs(events: DataFrame, runs: DataFrame) -> DataFrame:
    """Events of the tries that count; those of earlier tries and of runs that never ended are left out."""
    return events.join(F.broadcast(runs.select(*TRY)), on=[*TRY], how="left_semi")


FIT = {RUNS: ranked, EVENTS: timed_or_bad}
"""What is done to the rows of a kind as they are read."""
READY = {EVENTS: pairs_of, RUNS: with_case, GROUPS: with_case, AGREEMENT: with_case}
"""What every table would do to its records first: done once, and this alone is kept."""
