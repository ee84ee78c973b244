"""Lines of JSON become rows of a record model; what does not fit goes into quarantine with its file and a reason."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import pyspark.sql.functions as F  # noqa: N812
from pydantic import BaseModel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from harness.records.run import FORMAT
from reports.ingest.schemas import complaint, schema_of, with_defaults

UNPARSED = "_unparsed"
SUITE = "suite"
"""Which of the report's folders a row comes from: an index."""
EXCERPT = 120


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows that are records, and lines that are not (suite, file, reason, excerpt)."""

    records: DataFrame
    quarantined: DataFrame


def read_records(spark: SparkSession, folders: Sequence[Path], file: str, model: type[BaseModel]) -> DataFrame:
    """Every line of `file` in the folders: `row` is what was read as `model`, `reason` why it is none, else null."""
    return lines_of(spark, folders, file).transform(parsed_as, model).transform(judged_by, model)


def sort(judged: DataFrame, file: str, model: type[BaseModel]) -> Sorted:
    """Part what `read_records` gave into records, defaults filled in, and quarantined lines."""
    return Sorted(
        records=judged.where(F.col("reason").isNull()).select(SUITE, *with_defaults(model, F.col("row"))),
        quarantined=judged.where(F.col("reason").isNotNull()).select(
            SUITE,
            F.lit(file).alias("file"),
            F.lit(None).cast("long").alias("line"),
            "reason",
            F.substring("line", 1, EXCERPT).alias("excerpt"),
        ),
    )


def lines_of(spark: SparkSession, folders: Sequence[Path], file: str) -> DataFrame:
    """The lines that are not blank, with the index of their folder."""
    found = [
        spark.read.text(without_glob(folder / file)).select(F.lit(index).alias(SUITE), F.trim("value").alias("line"))
        for index, folder in enumerate(folders)
        if (folder / file).is_file()
    ]
    empty = spark.range(0).select(F.lit(0).alias(SUITE), F.lit("").alias("line"))
    return reduce(DataFrame.unionByName, found, empty) if len(found) != 1 else found[0]


def without_glob(path: Path) -> str:
    """Spark takes a path for a pattern: a folder may be called `results[2]` all the same."""
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", str(path.resolve()))


def parsed_as(lines: DataFrame, model: type[BaseModel]) -> DataFrame:
    schema = StructType([*schema_of(model).fields, StructField(UNPARSED, StringType())])
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": UNPARSED}
    return lines.where(F.col("line") != "").withColumn("row", F.from_json("line", schema, options))


def judged_by(parsed: DataFrame, model: type[BaseModel]) -> DataFrame:
    newer = f"if(row.format > {FORMAT}, concat('format ', row.format, ' is newer than {FORMAT}, the last known'), null)"
    reasons = [
        "if(line like '{%' and line not like '%}', 'cut short: the line ends inside a record', null)",
        "if(line not like '{%', 'no JSON object', null)",
        newer if "format" in model.model_fields else "null",
        f"if(row.{UNPARSED} is not null and json_object_keys(line) is null, 'broken JSON', null)",
        complaint(model, "row"),
        f"if(row.{UNPARSED} is not null, 'a field has the wrong type', null)",
    ]
    return parsed.withColumn("reason", F.expr(f"coalesce({', '.join(reasons)})"))
