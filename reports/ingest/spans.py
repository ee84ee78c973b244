"""Beginnings and ends of the same thing, paired: how long a wait, a dial or an attempt took, and how it ended."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Column, DataFrame

from reports.ingest.lines import REJECTED, SUITE

RUN_KEY = (SUITE, "run_id")
ATTEMPT_KEY = (*RUN_KEY, "attempt")
SPAN_IDENTITY = {
    "wait": ("waiting_on", "purpose", "connection", "operation", "try_number", "broker", "address"),
    "dial": ("connection", "broker", "address"),
    "attempt": ("operation", "try_number"),
    "refresh": ("try_number",),
    "wire": ("connection", "address", "purpose"),
}
"""What takes time, and what its end repeats of its beginning."""
DIAL_SEEN = "dial_seen"
"""A dial of a program that tells nothing, as the wire showed it: a beginning without an end."""
KINDS = (DIAL_SEEN, *(f"{name}_{part}" for name in SPAN_IDENTITY for part in ("started", "ended")))
IDENTITY = tuple(dict.fromkeys(name for names in SPAN_IDENTITY.values() for name in names))


def pair_events(judged: DataFrame) -> DataFrame:
    """One row per beginning: `what` began at `began_ns`, and where it ended `ended_ns`, `outcome` and `error`; and one
    per end that nothing began. `seen`: on the wire alone.

    Of several alike in a try, the first ends first. An end before which nothing like it was open belongs to none, as
    where the line that began it could not be read. What is REJECTED stays apart.
    """
    kind = F.col("kind")
    ends = kind.endswith("_ended")
    what = F.substring_index(kind, "_", 1)
    begun = F.struct("at_ns", "source_seq")
    ended = F.struct("at_ns", "source_seq", "outcome", "error")
    keys = (*ATTEMPT_KEY, "source", "what", "seen", *IDENTITY, REJECTED)
    return (
        judged.withColumns(
            {"what": what, "seen": kind == DIAL_SEEN, **{name: identity_column(name, what) for name in IDENTITY}}
        )
        .groupBy(*keys)
        .agg(
            sorted_distinct(F.when(~ends, begun)).alias("begun"),
            sorted_distinct(F.when(ends, ended)).alias("ended"),
        )
        .withColumn("pairs", F.when(already_in_order(), F.arrays_zip("begun", "ended")).otherwise(match_ends()))
        .select(*keys, F.explode_outer("pairs").alias("pair"))
        .select(
            *keys,
            F.col("pair.begun.at_ns").alias("began_ns"),
            F.col("pair.begun.source_seq").alias("began_seq"),
            F.col("pair.ended.at_ns").alias("ended_ns"),
            F.col("pair.ended.source_seq").alias("ended_seq"),
            F.col("pair.ended.outcome").alias("outcome"),
            F.col("pair.ended.error").alias("error"),
        )
    )


def already_in_order() -> Column:
    """Whether each end comes after the beginning of the same rank: nothing needs to be looked for then."""
    return F.forall(
        F.arrays_zip("begun", "ended"),
        lambda pair: pair["ended"].isNull() | F.coalesce(pair["begun"] < event_order(pair["ended"]), F.lit(False)),
    )


def match_ends() -> Column:
    """The same of ends among which some belong to nothing: these stand alone."""
    begun, ended = F.col("begun"), F.col("ended")

    def one_more(found: Column, end: Column) -> Column:
        earlier = F.filter(begun, lambda begin: begin < event_order(end))
        return F.when(F.size(earlier) > F.size(found), F.concat(found, F.array(end))).otherwise(found)

    own = F.aggregate(ended, F.slice(ended, 1, 0), one_more)
    alone = F.filter(ended, lambda end: ~F.array_contains(own, end))
    nothing = F.get(begun, F.lit(-1))
    return F.concat(
        F.arrays_zip(begun.alias("begun"), own.alias("ended")),
        F.transform(alone, lambda end: F.struct(nothing.alias("begun"), end.alias("ended"))),
    )


def event_order(end: Column) -> Column:
    return F.struct(end["at_ns"], end["source_seq"])


def sorted_distinct(values: Column) -> Column:
    return F.array_distinct(F.sort_array(F.collect_list(values)))


def spans_of(pairs: DataFrame) -> DataFrame:
    return pairs.where(F.col("began_ns").isNotNull())


def unpair_events(pairs: DataFrame) -> DataFrame:
    """The paired events as they were recorded: one per beginning, and one per end."""
    unsaid = F.lit(None).cast("string")
    began = event_struct("began", "_started", outcome=unsaid, error=unsaid)
    ended = event_struct("ended", "_ended", outcome=F.col("outcome"), error=F.col("error"))
    return (
        pairs.where(~F.col("seen"))
        .select(*ATTEMPT_KEY, "source", *IDENTITY, F.explode(F.array(began, ended)).alias("end"))
        .select(*ATTEMPT_KEY, "source", *IDENTITY, "end.*")
        .where(F.col("at_ns").isNotNull())
    )


def event_struct(side: str, called: str, **fields: Column) -> Column:
    return F.struct(
        F.concat("what", F.lit(called)).alias("kind"),
        F.col(f"{side}_ns").alias("at_ns"),
        F.col(f"{side}_seq").alias("source_seq"),
        *[value.alias(name) for name, value in fields.items()],
    )


def identity_column(name: str, what: Column) -> Column:
    """The column where it tells things of that kind apart, else null."""
    return F.when(what.isin([kind for kind, names in SPAN_IDENTITY.items() if name in names]), F.col(name))
