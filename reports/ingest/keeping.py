"""Reading once: every table begins with the same records, which are read and judged one time alone.

Few records travel through Arrow: Spark's own cache compiles code for each of their hundred columns first. Many stay
where they are, in Spark's cache, on a cluster too.
"""

from enum import Enum
from threading import Lock

import pyspark.sql.functions as F  # noqa: N812
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from reports.ingest.lines import REASON


class Size(Enum):
    """How much there is to read: what it is read with follows from it."""

    SMALL = "small"
    LARGE = "large"


def kept(spark: SparkSession, rows: DataFrame, size: Size) -> tuple[DataFrame, int]:
    """The same rows, read and judged now, and how many of them have a REASON not to be used."""
    if size is Size.SMALL:
        table = rows.toArrow()
        return spark.createDataFrame(table, rows.schema), table.num_rows - table[REASON].null_count
    held = rows.persist(StorageLevel.MEMORY_AND_DISK)
    [(found,)] = held.agg(F.count(REASON)).collect()
    return held, found


class Later:
    """Rows for several tables, worked out once, by whoever asks first; others wait for it."""

    def __init__(self, spark: SparkSession, rows: DataFrame, size: Size) -> None:
        self._lock = Lock()
        self._spark = spark
        self._rows = rows
        self._size = size
        self._kept: DataFrame | None = None

    def __call__(self) -> DataFrame:
        with self._lock:
            if self._kept is None:
                small = self._size is Size.SMALL
                self._kept = (
                    self._spark.createDataFrame(self._rows.toArrow(), self._rows.schema)
                    if small
                    else self._rows.persist(StorageLevel.MEMORY_AND_DISK)
                )
            return self._kept
