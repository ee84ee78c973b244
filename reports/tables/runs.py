"""The runs that count, one row each, with everything that their records say."""

from pyspark.sql import DataFrame

from reports.ingest.records import Records
from reports.tables.base import Table


def runs(records: Records) -> DataFrame:
    return records.runs


TABLE = Table(
    name="runs",
    about="The runs that count, one row each.",
    order=("suite", "scenario", "environment", "case", "repeat", "run_id"),
    make=runs,
)
