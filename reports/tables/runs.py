"""The runs that count, one row each, with everything that their records say."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from reports.ingest.records import Records
from reports.tables.base import Table
from reports.tables.cases import with_case


def runs(records: Records) -> DataFrame:
    return records.runs.transform(with_case).orderBy(
        "suite", "scenario", "environment", "case", F.col("repeat"), "run_id"
    )


TABLE = Table(name="runs", about="The runs that count, one row each.", make=runs)
