"""The name of a case, made of its parameters: computed once for every record, since most tables are sorted by it."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Column, DataFrame

KINDS = r"^(settings|cluster|client)\."


def with_case(records: DataFrame) -> DataFrame:
    """Adds `case`: `Producer.Retry.Max=1, brokers=3`; names lose the part that says what kind they are."""
    return records.withColumn("case", parameters_text(F.col("parameters")))


def parameters_text(parameters: Column) -> Column:
    return F.array_join(F.transform(parameters, parameter_text), ", ")


def parameter_text(parameter: Column) -> Column:
    return F.concat(F.regexp_replace(parameter["name"], KINDS, ""), F.lit("="), parameter["text"])
