"""The statistical expectations: a share, a mean or a quantile over the repeats of a case, compared with its bounds."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from reports.ingest.lines import SUITE
from reports.ingest.records import Records
from reports.tables.base import Table
from reports.tables.cases import CASE_COLUMNS

CASE_WITHOUT_BROKERS = tuple(name for name in CASE_COLUMNS if name != "brokers")
"""A line of groups.jsonl does not repeat how many brokers its runs had."""
STATISTIC_COLUMNS = ("statistic", "of", "q", "kind", "formula", "when", "line")


def groups(records: Records) -> DataFrame:
    brokers = records.runs.groupBy(*CASE_WITHOUT_BROKERS).agg(F.max("brokers").alias("brokers"))
    return records.groups.transform(without_copies).join(brokers, on=list(CASE_WITHOUT_BROKERS), how="left")


def without_copies(rows: DataFrame) -> DataFrame:
    """Copies of a folder add no rows. The same case in another suite is another row."""
    said = [name for name in rows.columns if name != SUITE]
    return rows.groupBy(*said).agg(F.min(SUITE).alias(SUITE))


TABLE = Table(
    name="groups",
    about="Statistical expectations over the repeats of a case.",
    order=(*CASE_WITHOUT_BROKERS, *STATISTIC_COLUMNS, SUITE),
    make=groups,
)
