"""What could not be read: each line (or whole file) that is not part of any other table, and why."""

from pyspark.sql import DataFrame

from reports.ingest.lines import SUITE
from reports.ingest.records import Records
from reports.tables.base import Table


def quarantined(records: Records) -> DataFrame:
    return records.quarantined


TABLE = Table(
    name="quarantined",
    about="Lines and files that could not be read, with the reason.",
    order=(SUITE, "file", "line", "reason"),
    make=quarantined,
)
