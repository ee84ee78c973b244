"""The claims: formulas from published texts, held or refuted by measurement, beside what the scenario declares."""

import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import DataFrame

from reports.ingest.records import Records
from reports.ingest.spans import RUN_KEY
from reports.tables.base import Table
from reports.tables.cases import CASE_COLUMNS
from reports.tables.medians import middle, middle_is_bound, observation

ROW = (*CASE_COLUMNS, "measure", "unit", "formula", "line")
CLAIM_COLUMNS = ("name", "when", "source", "predicted", "low", "high", "declared_holds")
OUTCOMES = ("held", "refuted", "inconclusive")


def claims(records: Records) -> DataFrame:
    return records.runs.transform(one_row_per_claim).transform(aggregate).transform(with_verdict)


def one_row_per_claim(runs: DataFrame) -> DataFrame:
    """Claims whose `when` is true. Figures are those of the runs that settled them."""
    claimed = F.filter("expectations", lambda one: (one["kind"] == "claim") & (one["outcome"] != "skipped"))
    settled = F.col("claim.outcome").isin("held", "refuted")
    return runs.select(*CASE_COLUMNS, *RUN_KEY, F.explode(claimed).alias("claim")).select(
        *CASE_COLUMNS,
        *RUN_KEY,
        "claim.*",
        F.when(settled, observation(F.col("claim.measured"), F.col("claim.censored_at"))).alias("pair"),
        F.when(settled, F.col("claim.measured_text")).alias("word"),
    )


def aggregate(rows: DataFrame) -> DataFrame:
    """What a scenario that was changed between two folders says of it is what the last of them says."""
    same = [F.max_by(name, F.struct(*RUN_KEY)).alias(name) for name in CLAIM_COLUMNS]
    outcomes = [F.count_if(F.col("outcome") == outcome).alias(outcome) for outcome in OUTCOMES]
    return rows.groupBy(*ROW).agg(
        F.count("*").alias("n"),
        *same,
        *outcomes,
        F.sort_array(F.collect_list("pair")).alias("pairs"),
        F.sort_array(F.collect_set("word")).alias("words"),
    )


def with_verdict(rows: DataFrame) -> DataFrame:
    """`verdict`: held or refuted where all runs agree, `mixed` where they do not, `inconclusive` where none says.
    `as_declared` is null where the scenario declares nothing."""
    held, refuted = F.col("held") > 0, F.col("refuted") > 0
    verdict = F.when(held & refuted, "mixed").when(held, "held").when(refuted, "refuted").otherwise("inconclusive")
    as_declared = F.when(
        F.col("declared_holds").isNotNull() & (held | refuted),
        F.when(F.col("declared_holds"), ~refuted).otherwise(~held),
    )
    return (
        rows.withColumn("verdict", verdict)
        .withColumn("as_declared", as_declared)
        .withColumn("median", middle(F.col("pairs")))
        .withColumn("median_is_bound", middle_is_bound(F.col("pairs")))
    )


TABLE = Table(
    name="claims",
    about="Published formulas, held or refuted.",
    order=("scenario", "line", *ROW[1:-1]),
    make=claims,
)
