"""The same questions of the same ten million events, asked of Spark and of duckdb, in one process.

Waits are paired as the report pairs them. No table of the report asks for quantiles over all events: that question is
asked as Spark answers it best.

    .venv/bin/python -m bench.report_beside_duckdb [FOLDER] [--events 10000000] [--times 3]

duckdb answers from one process without Java and without a cluster: the ratio is what Spark costs on one machine.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import isclose
from operator import or_
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import duckdb
import pyspark.sql.functions as F  # noqa: N812
from pyspark.sql import Column, DataFrame, Window

from bench.inputs.synthetic_records import multiply, simulate_suite
from harness.records.event import EventRecord
from reports.ingest.lines import REJECTED, SUITE
from reports.ingest.schemas import schema_of
from reports.ingest.size import Size
from reports.ingest.spans import SPAN_IDENTITY, pair_events, spans_of
from reports.jvm.class_archive import class_archive_for
from reports.jvm.runtime import find_java
from reports.session import spark_session

EVENTS_A_RUN = 100
SHARES = (0.5, 0.99)
BLOCK_BITS = 24
"""A block of times is 17 ms long."""
QueryRows = list[tuple[Any, ...]]
EVENT_TIMES_SQL = """
    SELECT kind, count(*), quantile_cont(at_ns, 0.5), quantile_cont(at_ns, 0.99)
    FROM events GROUP BY kind ORDER BY kind
"""
SAME_WAIT = ", ".join(("run_id", "source", *SPAN_IDENTITY["wait"]))
WAITS_SQL = f"""
    WITH numbered AS (
        SELECT {SAME_WAIT}, kind, at_ns,
               row_number() OVER (PARTITION BY {SAME_WAIT}, kind ORDER BY at_ns, source_seq) AS number
        FROM events WHERE kind IN ('wait_started', 'wait_ended')
    ), spans AS (
        SELECT waiting_on,
               max(at_ns) FILTER (kind = 'wait_ended') - max(at_ns) FILTER (kind = 'wait_started') AS took_ns
        FROM numbered GROUP BY {SAME_WAIT}, number
    )
    SELECT waiting_on, count(*), quantile_cont(took_ns, 0.5), quantile_cont(took_ns, 0.99)
    FROM spans WHERE took_ns IS NOT NULL GROUP BY waiting_on ORDER BY waiting_on
"""


def quantiles(name: str) -> list[Any]:
    return [F.count("*"), *(F.percentile(name, F.lit(share)) for share in SHARES)]


def when(events: DataFrame) -> DataFrame:
    """Spark's own exact percentile keeps each different value in a hash map, which of ten million is most of them. So
    values are counted by the block they fall in, and sorted only where a rank lies."""
    placed = events.select("kind", "at_ns", F.shiftright("at_ns", BLOCK_BITS).alias("block"))
    blocks = (
        placed.groupBy("kind", "block")
        .agg(F.count("*").alias("there"))
        .transform(with_cumulative_counts)
        .where(contains_rank())
    )
    number = F.row_number().over(Window.partitionBy("kind", "block").orderBy("at_ns")) - 1 + F.col("before")
    return (
        placed.join(F.broadcast(blocks), on=["kind", "block"], how="inner")
        .withColumn("number", number)
        .groupBy("kind")
        .agg(F.max("total").alias("count"), *(interpolated(share) for share in SHARES))
        .orderBy("kind")
    )


def with_cumulative_counts(blocks: DataFrame) -> DataFrame:
    """Adds how many values stand `before` a block, and the `total` of its kind."""
    every = Window.partitionBy("kind")
    before = F.sum("there").over(every.orderBy("block")) - F.col("there")
    return blocks.withColumns({"before": before, "total": F.sum("there").over(every)})


def rank(share: float) -> Column:
    return F.lit(share) * (F.col("total") - 1)


def contains_rank() -> Column:
    last = F.col("before") + F.col("there") - 1
    return reduce(or_, [(F.ceil(rank(share)) >= F.col("before")) & (F.floor(rank(share)) <= last) for share in SHARES])


def interpolated(share: float) -> Column:
    """The value at a rank, as far between its two neighbours as the rank is."""
    lower = F.max(F.when(F.col("number") == F.floor(rank(share)), F.col("at_ns")))
    upper = F.max(F.when(F.col("number") == F.ceil(rank(share)), F.col("at_ns")))
    part = F.max(rank(share) - F.floor(rank(share)))
    return (lower + (upper - lower) * part).alias(f"p{share * 100:.0f}")


def waits(events: DataFrame) -> DataFrame:
    """By the report's own pairing of beginnings and ends."""
    spans = events.transform(pair_events).transform(spans_of).where(F.col("what") == "wait")
    took = spans.withColumn("took_ns", F.col("ended_ns") - F.col("began_ns"))
    return took.dropna(subset="took_ns").groupBy("waiting_on").agg(*quantiles("took_ns")).orderBy("waiting_on")


QUESTIONS = (
    ("exact p50 and p99 of when, by kind", EVENT_TIMES_SQL, when),
    ("waits paired, by setting", WAITS_SQL, waits),
)


def timed(query: Callable[[], QueryRows], times: int) -> tuple[QueryRows, float]:
    """The answer, and the median of so many times; the first one, which warms caches up, is not counted."""
    answer, taken = query(), []
    for _ in range(times):
        began_s = perf_counter()
        answer = query()
        taken.append(perf_counter() - began_s)
    return answer, median(taken)


def run_duckdb(connection: duckdb.DuckDBPyConnection, sql: str) -> QueryRows:
    return connection.sql(sql).fetchall()


def run_spark(spark_query: Callable[[DataFrame], DataFrame], events: DataFrame) -> QueryRows:
    """Asked anew: Spark keeps what a query shuffled for as long as the same query is asked."""
    return [tuple(row) for row in spark_query(events).collect()]


def same_rows(one: QueryRows, other: QueryRows) -> bool:
    return len(one) == len(other) and all(
        a[:2] == b[:2] and all(isclose(x, y, rel_tol=1e-9, abs_tol=1) for x, y in zip(a[2:], b[2:], strict=True))
        for a, b in zip(one, other, strict=True)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where the two answer differently."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        source = given.folder or simulate_suite(Path(name) / "suite")
        folder = Path(name) / "many"
        runs = max(1, given.events // EVENTS_A_RUN)
        multiply(source, folder, runs=runs, events=given.events, as_parquet=True, with_runs=False)
        parts = folder / "events.parquet"
        size = sum(file.stat().st_size for file in parts.iterdir())
        connection = duckdb.connect(config={"threads": 2})
        connection.execute(f"CREATE VIEW events AS SELECT * FROM read_parquet('{parts}/*.parquet')")
        count = connection.sql("SELECT count(*) FROM events").fetchall()[0][0]
        load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
        print(f"{count:,} events, {size / 1e6:.0f} MB of Parquet; load {load}")
        right = True
        with spark_session(class_archive_for(find_java()), Path(name) / "work", size=Size.LARGE) as spark:
            events = spark.read.schema(schema_of(EventRecord)).parquet(str(parts))
            events = events.withColumns({SUITE: F.lit(0), REJECTED: F.lit(None).cast("string")})
            for question, sql, spark_query in QUESTIONS:
                by_duckdb, duckdb_s = timed(partial(run_duckdb, connection, sql), given.times)
                by_spark, spark_s = timed(partial(run_spark, spark_query, events), given.times)
                right = right and same_rows(by_duckdb, by_spark)
                same = "same answer" if same_rows(by_duckdb, by_spark) else "DIFFERENT ANSWERS"
                ratio = spark_s / duckdb_s
                print(f"  {question}: Spark {spark_s:.2f} s, duckdb {duckdb_s:.2f} s, ratio {ratio:.1f}; {same}")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
