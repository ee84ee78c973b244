"""Listings of groups by scenario."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from reports.ingest.records import Records
from reports.tables.base import Table


def listings(records: Records) -> DataFrame:
    return (
        records.runs.select("scenario", F.explode("operations").alias("one"))
        .where(F.col("one.operation") == "list_groups")
        .groupBy("scenario")
        .agg(F.count("*").alias("listings"))
    )


TABLE = Table(name="listings", about="How often groups were listed.", order=("scenario",), make=listings)
