"""The folders that the report is made of: what was planned in each, and what is there."""

import pyarrow as pa
import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from reports.ingest.lines import SUITE
from reports.ingest.records import Records
from reports.tables.base import Table

COUNTS = ("lines", "runs", "tried_again", "counted")


def folders(records: Records) -> DataFrame:
    """`lines` of runs, the `runs` that they tell of, those among them that were `tried_again`, and those that are
    `counted` here: of a run in several folders, the last one's counts."""
    runs = records.lines.groupBy(SUITE, "run_id").agg(F.count("*").alias("tries"))
    there = runs.groupBy(SUITE).agg(
        F.sum("tries").alias("lines"),
        F.count("*").alias("runs"),
        F.count_if(F.col("tries") > 1).alias("tried_again"),
    )
    counted = records.runs.groupBy(SUITE).agg(F.count("*").alias("counted"))
    counts = {name: F.coalesce(name, F.lit(0)) for name in COUNTS}
    return (
        folder_rows(records).join(there, on=SUITE, how="left").join(counted, on=SUITE, how="left").withColumns(counts)
    )


def folder_rows(records: Records) -> DataFrame:
    """What their manifests say; `planned` is null where nothing says it."""
    rows = [
        {
            SUITE: suite,
            "folder": folder.name,
            "is_written": folder.is_being_written,
            "planned": sum(len(manifest.run_ids) for manifest in folder.manifests) or None,
            "started_at": min((manifest.started_at for manifest in folder.manifests), default=None),
            "seed": folder.manifests[0].seed if len(folder.manifests) == 1 else None,
            "machine": "; ".join(sorted({manifest.machine for manifest in folder.manifests})) or None,
            "faultlab": "; ".join(sorted({manifest.faultlab for manifest in folder.manifests})) or None,
        }
        for suite, folder in enumerate(records.folders)
    ]
    text, number = pa.string(), pa.int64()
    kinds = pa.schema(
        [
            (SUITE, pa.int32()), ("folder", text), ("is_written", pa.bool_()), ("planned", number),
            ("started_at", text), ("seed", number), ("machine", text), ("faultlab", text),
        ]
    )  # fmt: skip
    return records.spark.createDataFrame(pa.Table.from_pylist(rows, schema=kinds))


TABLE = Table(
    name="folders",
    about="The folders of the report: planned and ended runs, runs that were tried again.",
    order=(SUITE,),
    make=folders,
)
