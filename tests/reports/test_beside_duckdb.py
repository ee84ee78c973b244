"""Holds the table of time-outs to what SQL says of the same lines, written from docs/REPORTS.md for another engine."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from bench.inputs.synthetic_suite import SyntheticBlackhole, write_lines
from bench.inputs.timeouts_sql import LINE_COLUMNS, QUANTILES, TIMEOUTS_SQL
from harness.records.run import ExpectationResult, MeasureRecord, RunRecord
from reports.ingest.records import Records
from reports.tables.timeouts import timeouts

FIGURES = ("n", "held", "failed", "inconclusive", "unjudged", "censored", "min", "max", "median", "median_is_bound")
KEY = ("scenario", "client_version", "brokers", "case", "measure", "unit")


def drawn_run(chance: random.Random, number: int) -> RunRecord:
    """A run whose times, outcomes and verdict are drawn: few values, so that some are equal, ended or not."""
    run, _ = SyntheticBlackhole(brokers=chance.choice((1, 3)), retries=chance.choice((0, 1))).run(1)
    measures = [drawn_measure(chance, name) for name in ("probe.time_to_error", "recovery", "probe.dials")]
    expectations = [drawn_expectation(chance) for _ in range(chance.randrange(4))]
    return run.model_copy(
        update={
            "run_id": f"{number:012x}", "attempt": chance.choice((1, 1, 1, 2)), "measures": tuple(measures),
            "verdict": chance.choice(("pass", "pass", "fail", "inconclusive", "lab_error")),
            "expectations": tuple(expectations),
        }
    )  # fmt: skip


def drawn_measure(chance: random.Random, name: str) -> MeasureRecord:
    time = chance.choice((1.0, 2.0, 2.5, 4.0, 8.0))
    kind = chance.choice(("value", "value", "value", "censored_at", "missing"))
    return MeasureRecord.model_validate({"name": name, "unit": "s", kind: "no event" if kind == "missing" else time})


def drawn_expectation(chance: random.Random) -> ExpectationResult:
    kind = chance.choice(("equals", "at_most", "claim"))
    outcomes = ("held", "refuted") if kind == "claim" else ("held", "held", "failed", "inconclusive", "skipped")
    return ExpectationResult.model_validate(
        {
            "measure": chance.choice(("probe.time_to_error", "recovery")), "kind": kind, "formula": "2s", "unit": "s",
            "outcome": chance.choice(outcomes), "line": chance.randrange(9),
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs in two folders: some in both, some tried twice."""
    chance, made = random.Random(12), []
    for number in range(2):
        folder = tmp_path_factory.mktemp(f"suite-{number}")
        write_lines(folder / "runs.jsonl", [drawn_run(chance, chance.randrange(400)) for _ in range(300)])
        made.append(folder)
    return made


def figures_of(row: dict[str, Any]) -> dict[str, Any]:
    quantiles = {name: row[name] for q in QUANTILES for name in (f"p{q}", f"p{q}_is_bound")}
    # Of no times at all no quantile is a bound: some engines say so, others that they do not know.
    return {name: None if value is False else value for name, value in {**row, **quantiles}.items()}


def test_time_outs_are_what_sql_makes_of_the_same_lines(folders: list[Path], read: Callable[..., Records]) -> None:
    connection = duckdb.connect()
    selects = [
        f"SELECT *, {place} AS folder, row_number() OVER () AS line FROM read_json('{folder / 'runs.jsonl'}',"
        f" format='newline_delimited', columns={LINE_COLUMNS})"
        for place, folder in enumerate(folders)
    ]
    connection.execute(f"CREATE TABLE lines AS {' UNION ALL '.join(selects)}")
    compared = [*KEY, *FIGURES, *(name for q in QUANTILES for name in (f"p{q}", f"p{q}_is_bound"))]
    by_sql = connection.sql(TIMEOUTS_SQL).to_arrow_table().select(compared).to_pylist()
    by_spark = timeouts(read(*folders)).select(*compared).toArrow().to_pylist()
    assert len(by_sql) == 12

    def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(map(figures_of, rows), key=lambda row: [row[name] for name in KEY])

    assert in_order(by_spark) == in_order(by_sql)
