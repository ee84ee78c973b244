"""What could not be read: lines with their file and number, and whole files."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame, SparkSession, Window

from reports.ingest.folders import Part
from reports.ingest.lines import (
    BLOCK,
    EXCERPT,
    FILE,
    POSITION,
    REASON,
    REJECTED,
    SUITE,
    IndexedPart,
    position_columns,
    read_literal_paths,
    spark_uri,
)

COLUMNS = pa.schema(
    {SUITE: pa.int32(), FILE: pa.string(), "line": pa.int64(), "reason": pa.string(), "excerpt": pa.string()}
)


def rejected_rows(rows: DataFrame) -> DataFrame:
    rejected = rows.where(F.col(REJECTED).isNotNull()).select(SUITE, f"{REJECTED}.*")
    return rejected.withColumnsRenamed({REASON: "reason", EXCERPT: "excerpt"})


def with_line_numbers(bad: DataFrame, spark: SparkSession, parts: Sequence[IndexedPart]) -> DataFrame:
    """With the number of each line in its file, from 1, and the file's name as its reader knows it.

    Spark reads a large file in blocks and does not say where a line stands: so lines are counted by block, in the same
    order as they were read. Only where there is something to number: it is one more look at the files, at their lines'
    ends alone.
    """
    before = Window.partitionBy(FILE).orderBy(BLOCK).rowsBetween(Window.unboundedPreceding, -1)
    blocks = (
        positions(spark, [found for found in parts if not found[1].is_parquet])
        .groupBy(FILE, BLOCK)
        .agg(F.min(POSITION).alias("first"), F.count("*").alias("lines"))
        .withColumn("before", F.coalesce(F.sum("lines").over(before), F.lit(0)))
    )
    line = F.col("before") + F.col(POSITION) - F.col("first") + 1
    return (
        bad.join(F.broadcast(blocks), on=[FILE, BLOCK], how="left")
        .join(F.broadcast(display_names(spark, parts)), on=FILE, how="inner")
        .select(SUITE, F.col("shown").alias(FILE), line.alias("line"), "reason", "excerpt")
    )


def positions(spark: SparkSession, parts: Sequence[IndexedPart]) -> DataFrame:
    """Where every line stands, a blank one too."""
    if not parts:
        return spark.createDataFrame([], f"{FILE} string, {BLOCK} long, {POSITION} long")
    return read_literal_paths(
        parts, lambda how, uris: spark.read.options(**how, lineSep="\n").text(uris).select(*position_columns())
    )


def display_names(spark: SparkSession, parts: Sequence[IndexedPart]) -> DataFrame:
    named: Mapping[str, str] = {spark_uri(spark, part): part.display_name for _, part in parts}
    return spark.createDataFrame(pa.table({FILE: list(named), "shown": list(named.values())}))


def unreadable_files(spark: SparkSession, unreadable_parts: Sequence[tuple[int, Part, str]]) -> DataFrame:
    """Files of which nothing is used."""
    rows = [{SUITE: suite, FILE: part.display_name, "reason": reason} for suite, part, reason in unreadable_parts]
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema=COLUMNS))
