"""A case: the repeats of one scenario with one client, one driver, one environment and one set of parameters."""

from pyspark.sql import Column

CASE_COLUMNS = ("scenario", "environment", "client", "client_version", "driver", "brokers", "case")
"""The columns that make a case; `case` is its parameters as text. The profile of a client and the real one (`driver`)
are different cases of one scenario."""


def conclusive(verdict: Column) -> Column:
    """A run in which something was tested: an unproven fault measures nothing."""
    return verdict.isin("pass", "fail")
