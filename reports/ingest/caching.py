"""Reading once: every table begins with the same records, which are read and judged one time alone.

Few records travel through Arrow: Spark's own cache compiles code for each of their hundred columns first. Many stay
where they are, in Spark's cache, on a cluster too.
"""

import pyspark.sql.functions as F  # noqa: N812
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from reports.ingest.lines import REJECTED
from reports.ingest.size import Size


def cache_rows(spark: SparkSession, rows: DataFrame, size: Size) -> tuple[DataFrame, int]:
    """The same rows, worked out now, and how many of them are REJECTED."""
    if size is Size.SMALL:
        table = rows.toArrow()
        return spark.createDataFrame(table, rows.schema), table.num_rows - table[REJECTED].null_count
    held = rows.persist(StorageLevel.MEMORY_AND_DISK_DESER)
    [(found,)] = held.agg(F.count(REJECTED)).collect()
    return held, found
