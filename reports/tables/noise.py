"""Noise: how late the lab's own timers came in each run, and which runs had to be tried again for it."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from reports.ingest.lines import SUITE
from reports.ingest.records import Records
from reports.ingest.spans import RUN_KEY
from reports.tables.base import Table
from reports.tables.cases import CASE_COLUMNS


def noise(records: Records) -> DataFrame:
    """`tries` counts the lines of the run, `noisy_tries` those among them that were too noisy; the lag is that of the
    try that counts, `worst_lag_p99_s` the largest p99 of all of them."""
    tries = records.tries.groupBy(*RUN_KEY).agg(
        F.count("*").alias("tries"),
        F.count_if("noisy").alias("noisy_tries"),
        F.max("noise.loop_lag_p99_s").alias("worst_lag_p99_s"),
    )
    return records.runs.select(
        *RUN_KEY, *CASE_COLUMNS, "repeat", "attempt", "verdict", "noisy", "noise.*", "started_at", "duration_s"
    ).join(tries, on=list(RUN_KEY), how="inner")


TABLE = Table(
    name="noise",
    about="The lab's own lateness in each run, and runs that were tried again.",
    order=(SUITE, *CASE_COLUMNS, "repeat", "run_id"),
    make=noise,
)
