"""Files of records become rows: each row is a record, or has a REASON why it is not one.

Lines of JSON and rows of Parquet files get the same columns: SUITE, FILE, the row's place in its file, the record's
fields, REASON, and EXCERPT where there is a reason.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812
from pydantic import BaseModel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from harness.records.line import DAMAGED, KEY, SUFFIX_BYTES
from harness.records.run import FORMAT
from reports.ingest.folders import Part
from reports.ingest.schemas import schema_of, violation_sql, with_defaults

UNPARSED = "_unparsed"
SUITE = "suite"
"""Which of the report's folders a row comes from: an index."""
FILE = "file"
"""Which of the report's files, as Spark writes its URI."""
BLOCK, POSITION = "_block", "_place"
"""Where a row stands: the part of the file that Spark read in one go, and a number that grows within it."""
REASON, EXCERPT = "_reason", "_excerpt"
"""Why a row is not a record (null where it is one), and how its line begins."""
REJECTED = "_rejected"
"""REASON, EXCERPT and the row's place in one: null where it is a record."""
EXCERPT_CHARACTERS = 120
LINE = "if(startswith(value, '{') and endswith(value, '}'), value, btrim(value, ' \t\r'))"
"""A line without the space around it. To look for space takes as long as to parse the line."""
PATTERN = re.compile(r"[{}\[\]*?\\]")
NO_PATTERNS = {"__globPaths__": "false"}
"""Source: apache/spark DataSource.scala (GLOB_PATHS_KEY)."""
CONTROL = r"[\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F]"
"""What no JSON has, as SQL spells the expression."""
BYTES = "cast(line as binary)"
"""A place in a text is counted in characters, from its start: in bytes it is known at once."""
FITS = (
    f"if(substr({BYTES}, -{SUFFIX_BYTES}, {len(KEY)}) = cast('{KEY.decode()}' as binary),"
    f" cast(substr({BYTES}, {len(KEY) - SUFFIX_BYTES}, 8) as string)"
    f" = lpad(lower(hex(crc32(substr({BYTES}, 1, octet_length(line) - {SUFFIX_BYTES})))), 8, '0'), null)"
)
"""SQL for whether a line fits its checksum, null where it has none: see `harness.records.line`."""
STRICT = {
    "mode": "PERMISSIVE",
    "columnNameOfCorruptRecord": UNPARSED,
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
}
"""Spark takes for JSON what is none: texts in single quotes, and numbers that are none."""

IndexedPart = tuple[int, Part]
"""A file, with the index of its folder."""


def read_records(spark: SparkSession, parts: Sequence[IndexedPart], model: type[BaseModel]) -> DataFrame:
    """Every record of the files, and what should be one."""
    lines = [found for found in parts if not found[1].is_parquet]
    columns = [found for found in parts if found[1].is_parquet]
    read = []
    if lines:
        read.append(read_lines(spark, lines, model))
    if columns:
        read.append(read_parquet(spark, columns, model))
    return reduce(DataFrame.unionByName, read).transform(validate_rows, model).transform(with_suite, spark, parts)


def read_lines(spark: SparkSession, parts: Sequence[IndexedPart], model: type[BaseModel]) -> DataFrame:
    """Lines with the record that each is.

    What makes a line a record stands beside its POSITION, which no filter passes: else Spark would push filters of
    records below it and parse each line again for them.
    """
    schema = StructType([*schema_of(model).fields, StructField(UNPARSED, StringType())])
    line = F.expr(LINE)
    columns = (*position_columns(), line.alias("line"), F.from_json(line, schema, STRICT).alias("row"))
    return read_literal_paths(
        parts, lambda how, uris: spark.read.options(**how, lineSep="\n").text(uris).select(*columns)
    ).where(F.col("line") != "")


def read_literal_paths(
    parts: Sequence[IndexedPart], read: Callable[[Mapping[str, str], list[str]], DataFrame]
) -> DataFrame:
    """Spark takes a path for a pattern: a folder may be called `results[2]` all the same, or `{a} 12:30`, which cannot
    even be escaped. Where patterns are forbidden, it reads whatever looks like none twice: so these are read apart.
    """
    plain = [part.uri for _, part in parts if not PATTERN.search(part.uri)]
    special = [part.uri for _, part in parts if PATTERN.search(part.uri)]
    return reduce(DataFrame.union, [read(how, uris) for how, uris in (({}, plain), (NO_PATTERNS, special)) if uris])


def position_columns() -> list[Column]:
    return [
        F.col("_metadata.file_path").alias(FILE),
        F.col("_metadata.file_block_start").alias(BLOCK),
        F.monotonically_increasing_id().alias(POSITION),
    ]


def read_parquet(spark: SparkSession, parts: Sequence[IndexedPart], model: type[BaseModel]) -> DataFrame:
    """Rows of Parquet files: columns by name; one that is missing is null, as a missing field is."""
    schema = schema_of(model)
    fields = [F.col(f"`{name}`") for name in schema.fieldNames()]
    whole = F.struct(*fields, F.lit(None).cast("string").alias(UNPARSED))
    columns = (*position_columns(), F.lit(None).cast("string").alias("line"), whole.alias("row"))
    return read_literal_paths(
        parts, lambda how, uris: spark.read.schema(schema).options(**how).parquet(*uris).select(*columns)
    )


def validate_rows(parsed: DataFrame, model: type[BaseModel]) -> DataFrame:
    newer = f"if(row.format > {FORMAT}, concat('format ', row.format, ' is newer than {FORMAT}, the last known'), null)"
    ends = "if(line like '%}', 'broken JSON', 'cut short: the line ends inside a record')"
    # With a number behind it, in a list: two things, where the line is one. Nothing follows a record that its first
    # brace ends, nor one whose checksum is right: others are looked through once more.
    things = "coalesce(json_array_length(concat('[', line, ',0]')), 0)"
    alone = f"line is null or instr(line, '}}') = length(line) or coalesce(fits, false) or {things} = 2"
    reasons = [
        "if(not is_valid_utf8(line), 'no text: its bytes are no UTF-8', null)",
        "if(line not like '{%', 'no JSON object', null)",
        newer if "format" in model.model_fields else "null",
        f"if(row.{UNPARSED} is not null and line rlike '{CONTROL}', 'broken JSON: it has control characters', null)",
        f"if(row.{UNPARSED} is not null and json_object_keys(line) is null, {ends}, null)",
        f"if({alone}, null, 'no record alone: something follows it on its line')",
        violation_sql(model, "row"),
        f"if(row.{UNPARSED} is not null, 'a field has the wrong type', null)",
        f"if(not fits, '{DAMAGED}', null)",
    ]
    judged = parsed.withColumn("fits", F.expr(FITS)).withColumn(REASON, F.expr(f"coalesce({', '.join(reasons)})"))
    excerpt = F.when(F.col(REASON).isNotNull(), F.substring(F.make_valid_utf8("line"), 1, EXCERPT_CHARACTERS))
    places = (FILE, BLOCK, POSITION)
    return judged.select(*places, REASON, excerpt.alias(EXCERPT), *with_defaults(model, F.col("row")))


def with_suite(rows: DataFrame, spark: SparkSession, parts: Sequence[IndexedPart]) -> DataFrame:
    """Adds SUITE, by the row's file."""
    suites = {suite for suite, _ in parts}
    if len(suites) <= 1:
        return rows.select(F.lit(next(iter(suites), 0)).alias(SUITE), "*")
    names = pa.table({FILE: [spark_uri(spark, part) for _, part in parts], SUITE: [suite for suite, _ in parts]})
    known = spark.createDataFrame(names, f"{FILE} string, {SUITE} int")
    return rows.join(F.broadcast(known), on=FILE, how="inner").select(SUITE, *rows.columns)


def spark_uri(spark: SparkSession, part: Part) -> str:
    """As Spark's own column of file names writes it: whatever is special in a URI encoded."""
    assert spark._jvm is not None
    return str(spark._jvm.org.apache.hadoop.fs.Path(part.uri).toUri().toString())


def with_rejected(rows: DataFrame) -> DataFrame:
    """REJECTED, instead of what it is made of."""
    parts = (FILE, BLOCK, POSITION, REASON, EXCERPT)
    bad = F.col(REASON).isNotNull()
    # Each part alone, else Arrow takes those that are never null for such in a record that is null.
    each = F.struct(*[F.when(bad, F.col(name)).alias(name) for name in parts])
    return rows.withColumn(REJECTED, F.when(bad, each)).drop(*parts)
