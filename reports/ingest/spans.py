"""Beginnings and ends of the same thing, paired: how long a wait, a dial or an attempt took, and how it ended."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Column, DataFrame

from reports.ingest.lines import SUITE

RUN = (SUITE, "run_id")
SAME = {
    "wait": ("waiting_on", "purpose", "connection", "operation", "try_number", "broker", "address"),
    "dial": ("connection", "broker", "address"),
    "attempt": ("operation", "try_number"),
    "refresh": ("try_number",),
}
"""What takes time, and what its end repeats of its beginning."""
SEEN = "dial_seen"
"""A dial of a program that tells nothing, as the wire showed it: a beginning without an end."""
KINDS = (SEEN, *(f"{name}_{part}" for name in SAME for part in ("started", "ended")))
IDENTITY = tuple(dict.fromkeys(name for names in SAME.values() for name in names))


def spans_of(events: DataFrame) -> DataFrame:
    """One row per beginning: `what` began at `began_ns`, and where it ended `ended_ns`, `outcome` and `error`.

    Of several alike in a run, the first ends first. `seen`: on the wire alone.
    """
    kind = F.col("kind")
    ends = kind.endswith("_ended")
    what = F.substring_index(kind, "_", 1)
    begun = F.struct("at_ns", "source_seq")
    ended = F.struct("at_ns", "source_seq", "outcome", "error")
    keys = (*RUN, "source", "what", "seen", *IDENTITY)
    return (
        events.withColumns({"what": what, "seen": kind == SEEN, **{name: told_of(name, what) for name in IDENTITY}})
        .groupBy(*keys)
        .agg(
            F.sort_array(F.collect_list(F.when(~ends, begun))).alias("begun"),
            F.sort_array(F.collect_list(F.when(ends, ended))).alias("ended"),
        )
        .select(*keys, F.explode(F.arrays_zip("begun", "ended")).alias("pair"))
        .where(F.col("pair.begun").isNotNull())
        .select(
            *keys,
            F.col("pair.begun.at_ns").alias("began_ns"),
            F.col("pair.ended.at_ns").alias("ended_ns"),
            F.col("pair.ended.outcome").alias("outcome"),
            F.col("pair.ended.error").alias("error"),
        )
    )


def told_of(name: str, what: Column) -> Column:
    """The column where it tells things of that kind apart, else null."""
    return F.when(what.isin([kind for kind, names in SAME.items() if name in names]), F.col(name))
