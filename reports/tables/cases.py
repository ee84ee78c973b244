"""A case: the repeats of one scenario with one client, one driver, one environment and one set of parameters."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Column, DataFrame

CASE = ("scenario", "environment", "client", "client_version", "driver", "brokers", "case")
"""The columns that make a case; `case` is its parameters as text. The profile of a client and the real one (`driver`)
are different cases of one scenario."""
KINDS = r"^(settings|cluster|client)\."


def with_case(runs: DataFrame) -> DataFrame:
    """Adds `case`: `Producer.Retry.Max=1, brokers=3`; names lose the part that says what kind of name they are."""
    return runs.withColumn("case", parameters_text(F.col("parameters")))


def parameters_text(parameters: Column) -> Column:
    return F.array_join(F.transform(parameters, parameter_text), ", ")


def parameter_text(parameter: Column) -> Column:
    return F.concat(F.regexp_replace(parameter["name"], KINDS, ""), F.lit("="), parameter["text"])


def conclusive(verdict: Column) -> Column:
    """A run in which something was tested: an unproven fault measures nothing."""
    return verdict.isin("pass", "fail")
