"""Agreement: one measure of one case, as profile, real client and simulation showed it; one row per comparison."""

from collections.abc import Callable

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Column, DataFrame

from reports.ingest.lines import SUITE
from reports.ingest.records import Records
from reports.tables.base import Table

SIDES = ("profile", "real", "sim")
FIGURES = ("runs", "measured", "censored", "median")


def agreement(records: Records) -> DataFrame:
    return records.agreement.transform(with_words_counted).transform(with_figures_of_sides)


def with_words_counted(rows: DataFrame) -> DataFrame:
    """`outcomes` of each side as words with their counts: in JSON they are lists of both."""

    def counted(side: Column) -> Column:
        words = F.transform(
            side["outcomes"],
            lambda pair: F.struct(
                F.get(pair, F.lit(0)).alias("word"), F.get(pair, F.lit(1)).cast("long").alias("count")
            ),
        )
        return side.withField("outcomes", words)

    return rows.withColumn("sides", F.transform("sides", counted))


def with_figures_of_sides(rows: DataFrame) -> DataFrame:
    """Adds `profile_median`, `real_runs`, ...: null for a side that did not run."""
    figures = {}
    for name in SIDES:
        side = F.get(F.filter("sides", of_side(name)), F.lit(0))
        figures.update({f"{name}_{figure}": side[figure] for figure in FIGURES})
    return rows.withColumns(figures)


def of_side(name: str) -> Callable[[Column], Column]:
    return lambda side: side["side"] == name


TABLE = Table(
    name="agreement",
    about="What profile, real client and simulation showed of one measure, and whether they agree.",
    order=("scenario", "client", "client_version", "brokers", "case", "measure", SUITE),
    make=agreement,
)
