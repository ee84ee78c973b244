"""Protects what the tables say: held against the records, counted again in plain Python."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pyspark.sql.functions as F  # noqa: N812
import pytest
from chispa import assert_df_equality
from pyspark.sql import SparkSession

import reports.tables
from bench.inputs.synthetic_suite import SECONDS, SyntheticBlackhole, SyntheticTrace, write_lines
from harness.records.run import ExpectationResult, RunRecord
from harness.stats import censored_median, median
from reports.ingest.records import Records
from reports.tables import all_tables
from reports.tables.claims import claims
from reports.tables.expectations import expectations
from reports.tables.medians import middle, middle_is_bound, observation
from reports.tables.timeouts import timeouts
from reports.tables.waits import waits

pytestmark = pytest.mark.spark
FILES = [path for path in Path(reports.tables.__file__).parent.glob("*.py") if path.name != "__init__.py"]


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory, write_hard_suite: Callable[[Path], list[RunRecord]]
) -> list[RunRecord]:
    return write_hard_suite(tmp_path_factory.mktemp("same"))


@pytest.fixture(scope="module")
def records(read: Callable[..., Records], hard_folder: Path) -> Records:
    return read(hard_folder)


def test_tables_are_found_and_their_names_are_their_files() -> None:
    parts = {"base", "cases", "medians"}
    assert {table.name for table in all_tables()} == {path.stem for path in FILES} - parts


def test_every_table_is_documented_and_nothing_else() -> None:
    text = (Path(__file__).parents[2] / "docs" / "REPORTS.md").read_text()
    named = text.partition("\n| table |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", named, re.MULTILINE)) == {table.name for table in all_tables()}


def test_timeouts_agree_with_the_records(records: Records, runs: list[RunRecord]) -> None:
    values, bounds, outcomes = defaultdict(list), defaultdict(list), defaultdict(lambda: defaultdict(int))
    for run in runs:
        parameters = tuple(parameter.text for parameter in run.parameters)
        for measure in run.measures:
            key = (run.scenario, parameters, measure.name)
            judged = [e for e in run.expectations if e.measure == measure.name and e.kind != "claim"]
            outcome = judged[0].outcome if judged else "unjudged"
            outcomes[key][outcome] += 1
            if outcome in ("held", "failed") or (outcome == "unjudged" and run.verdict in ("pass", "fail")):
                if measure.value is not None:
                    values[key].append(measure.value)
                if measure.censored_at is not None:
                    bounds[key].append(measure.censored_at)
    rows = timeouts(records).collect()
    assert len(rows) == len(outcomes)
    for row in rows:
        texts = tuple(part.split("=", 1)[1] for part in row.case.replace(", b", "\nb").split("\n"))
        key = (row.scenario, texts, row.measure)
        assert {name: row[name] for name in outcomes[key]} == dict(outcomes[key])
        assert row.n == sum(outcomes[key].values())
        assert row.censored == len(bounds[key])
        if values[key] or bounds[key]:
            expected = censored_median(values[key], bounds[key])
            assert (row.median, row.median_is_bound) == (pytest.approx(expected.value), expected.censored)
            assert row.min == min(values[key] + bounds[key])
            assert row.max == max(values[key] + bounds[key])
        else:
            assert row.median is None


@pytest.mark.parametrize("seed", range(3))
def test_medians_are_those_of_the_stats_room(spark: SparkSession, seed: int) -> None:
    rng = random.Random(seed)
    samples = []
    for group in range(30):
        for _ in range(rng.randint(1, 9)):
            time = float(rng.randint(1, 6))
            samples.append((group, None, time) if rng.random() < 0.3 else (group, time, None))
    frame = spark.createDataFrame(samples, "group int, value double, bound double")
    pairs = frame.groupBy("group").agg(
        F.array_sort(F.collect_list(observation(F.col("value"), F.col("bound")))).alias("p")
    )
    found = pairs.select("group", middle(F.col("p")).alias("middle"), middle_is_bound(F.col("p")).alias("bound"))
    for row in found.collect():
        own = [sample for sample in samples if sample[0] == row.group]
        expected = censored_median([v for _, v, _ in own if v is not None], [b for _, _, b in own if b is not None])
        assert (row.middle, row.bound) == (expected.value, expected.censored)


def test_every_expectation_has_a_row_as_the_runs_say(records: Records, runs: list[RunRecord]) -> None:
    expected: dict[tuple[object, ...], list[ExpectationResult]] = defaultdict(list)
    for run in runs:
        parameters = tuple(parameter.text for parameter in run.parameters)
        for one in run.expectations:
            if one.outcome != "skipped":
                key = (one.measure, one.kind, one.formula, one.name, one.predicted, one.low, one.high)
                expected[run.scenario, parameters, *key].append(one)
    rows = expectations(records).collect()
    assert len(rows) == len(expected)
    for row in rows:
        texts = tuple(part.split("=", 1)[1] for part in row.case.replace(", b", "\nb").split("\n"))
        own = expected[
            row.scenario, texts, row.measure, row.kind, row.formula, row.name, row.predicted, row.low, row.high
        ]
        assert (row.n, row.line, row.bound, row.predicted) == (
            len(own), own[-1].line, own[-1].bound or None, own[-1].predicted
        )  # fmt: skip
        outcomes = Counter(judged.outcome for judged in own)
        assert [row[name] for name in ("held", "refuted", "inconclusive")] == [
            outcomes[name] for name in ("held", "refuted", "inconclusive")
        ]
        assert row.failed == sum(judged.fails_run or judged.outcome == "failed" for judged in own)
        decided = [judged for judged in own if judged.outcome != "inconclusive"]
        values = [judged.measured for judged in decided if judged.measured is not None]
        bounds = [
            judged.censored_at for judged in decided if judged.measured is None and judged.censored_at is not None
        ]
        if values or bounds:
            assert row.median == pytest.approx(censored_median(values, bounds).value)
            assert (row.min, row.max) == (min(values + bounds), max(values + bounds))
    limits = {row.name: row for row in rows if row.scenario == "sarama-upgrade-bound" and row.kind == "at_most"}
    assert (limits["soon"].failed, limits["soon"].bound) == (5, "at_most: 3s")


def test_claims_are_held_or_refuted_as_the_runs_say(records: Records) -> None:
    rows = claims(records).collect()
    told = {(row.scenario, row.case): row for row in rows if row.scenario == "sarama-blackhole-established"}
    one = told["sarama-blackhole-established", "Producer.Retry.Max=1, brokers=1, bootstrap=[1]"]
    assert (one.verdict, one.as_declared, one.n, one.refuted) == ("refuted", True, 5, 5)
    assert one.predicted == 7.0
    assert one.median == pytest.approx(8.857, abs=0.01)
    assert not [case for _, case in told if "Retry.Max=0" in case], "a claim whose `when` is false says nothing"
    assert one.words == [], "a time is no word"
    unsettled = [row for row in rows if row.scenario == "sarama-heal-mid-dial" or row.name]
    assert {row.verdict for row in unsettled} == {"inconclusive"}
    assert {row.as_declared for row in unsettled} == {None}


def test_waits_sum_up_to_the_time_that_each_setting_took(records: Records, runs: list[RunRecord]) -> None:
    rows = [row for row in waits(records).collect() if row.operation == "probe"]
    own = [row for row in rows if row.case == "Producer.Retry.Max=1, brokers=3, bootstrap=[1, 2, 3]"]
    assert {row.setting: (row["count"], row.elapsed) for row in own} == {
        "Net.ReadTimeout": (2, 2),
        "Net.DialTimeout": (14, 14),
        "Producer.Retry.Backoff": (1, 1),
        "Metadata.Retry.Backoff": (3, 3),
    }
    for row in own:
        assert row.total_s == pytest.approx(row["count"] * SECONDS[row.setting], abs=0.02)
    measured = [run.measures[0].value or 0 for run in runs if run.scenario == own[0].scenario and run.brokers == 3]
    assert sum(row.total_s for row in own) == pytest.approx(median([v for v in measured if v > 18]), abs=0.01)


def test_waits_are_paired_in_order_and_cut_to_their_operation(
    spark: SparkSession, read: Callable[..., Records], tmp_path: Path
) -> None:
    trace = SyntheticTrace("a" * 12, random.Random(1))
    where = {"waiting_on": "Net.ReadTimeout", "purpose": "answer", "connection": 1}
    for at_s, kind in ((1, "started"), (2, "started"), (3, "ended"), (9, "ended"), (9.5, "started")):
        trace.now_ns = int(at_s * 1e9)
        trace.emit(f"wait_{kind}", **where, **({"outcome": "elapsed"} if kind == "ended" else {"limit_s": 2.0}))
    run, _ = SyntheticBlackhole(retries=0).run(1)
    operation = run.operations[-1].model_copy(update={"started_ns": int(2.5e9), "ended_ns": int(8e9)})
    run = run.model_copy(update={"run_id": "a" * 12, "operations": (operation,)})
    write_lines(tmp_path / "runs.jsonl", [run])
    write_lines(tmp_path / "events.jsonl", trace.events)
    records = read(tmp_path)
    spans = records.spans.orderBy("began_ns").select("began_ns", "ended_ns", "outcome")
    expected = spark.createDataFrame(
        [
            (1_000_000_000, 3_000_000_000, "elapsed"),
            (2_000_000_000, 9_000_000_000, "elapsed"),
            (9_500_000_000, None, None),
        ],
        "began_ns long, ended_ns long, outcome string",
    )
    assert_df_equality(spans, expected, ignore_nullable=True)
    [row] = waits(records).collect()
    assert (row["count"], row.elapsed, row.total_s) == (1, 1, pytest.approx(0.5)), (
        "the wait around it all is no part of it"
    )


def test_an_end_whose_beginning_could_not_be_read_belongs_to_no_other_wait(
    read: Callable[..., Records], tmp_path: Path
) -> None:
    trace = SyntheticTrace("a" * 12, random.Random(1))
    where = {"waiting_on": "Net.ReadTimeout", "purpose": "answer", "connection": 1}
    for at_s, kind in ((3, "ended"), (4, "started"), (5, "ended"), (6, "ended"), (7, "started"), (7.5, "ended")):
        trace.now_ns = int(at_s * 1e9)
        trace.emit(f"wait_{kind}", **where, **({"outcome": "elapsed"} if kind == "ended" else {"limit_s": 2.0}))
    run, _ = SyntheticBlackhole(retries=0).run(1)
    operation = run.operations[-1].model_copy(update={"started_ns": int(2e9), "ended_ns": int(8e9)})
    write_lines(tmp_path / "runs.jsonl", [run.model_copy(update={"run_id": "a" * 12, "operations": (operation,)})])
    write_lines(tmp_path / "events.jsonl", trace.events)
    records = read(tmp_path)
    spans = records.spans.orderBy("began_ns").select("began_ns", "ended_ns").collect()
    assert [(row.began_ns / 1e9, row.ended_ns / 1e9) for row in spans] == [(4.0, 5.0), (7.0, 7.5)]
    [row] = waits(records).collect()
    assert (row["count"], row.elapsed, row.total_s) == (2, 2, pytest.approx(1.5))
    assert records.span_events.count() == len(trace.events), "a time line has every end"
