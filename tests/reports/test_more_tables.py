"""Protects recovery, attempts, noise, groups, agreement and quantiles: counted again in plain Python."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyspark.sql.functions as F  # noqa: N812
import pytest
from pyspark.sql import SparkSession

from bench.inputs.synthetic_suite import SyntheticBlackhole, write_lines, write_suite
from harness.records.agreement import AgreementRecord, SideComparison, SideResult
from harness.records.event import EventRecord
from harness.records.run import MeasureRecord, NamedValue, NoiseRecord, RunRecord
from harness.stats import percentile
from reports.ingest.records import Records
from reports.tables.agreement import agreement
from reports.tables.attempts import attempts
from reports.tables.claims import claims
from reports.tables.groups import groups
from reports.tables.medians import QUANTILES, observation, with_quantiles
from reports.tables.noise import noise
from reports.tables.recovery import recovery
from reports.tables.timeouts import timeouts

pytestmark = pytest.mark.spark
Read = Callable[..., Records]


@pytest.mark.parametrize("seed", range(2))
def test_quantiles_are_those_of_the_stats_room_and_know_what_had_not_ended(spark: SparkSession, seed: int) -> None:
    """Held against what quantiles can be at most: with every unended time at infinity."""
    rng = random.Random(seed)
    samples = []
    for group in range(40):
        for _ in range(rng.randint(1, 30)):
            time = float(rng.randint(1, 40))
            samples.append((group, None, time) if rng.random() < 0.2 else (group, time, None))
    frame = spark.createDataFrame(samples, "group int, value double, bound double")
    pair = observation(F.col("value"), F.col("bound"))
    found = with_quantiles(frame.groupBy("group").agg(F.sort_array(F.collect_list(pair)).alias("pairs"))).collect()
    for row in found:
        least = [value if value is not None else bound for group, value, bound in samples if group == row.group]
        most = [value if value is not None else float("inf") for group, value, _ in samples if group == row.group]
        for q in QUANTILES:
            name = f"p{q * 100:.0f}"
            assert row[name] == percentile(least, q)
            assert row[f"{name}_is_bound"] or row[name] == percentile(most, q)
            if not any(value == float("inf") for value in most):
                assert not row[f"{name}_is_bound"]


def healed(run: RunRecord, repeat: int, dark_s: float, recovered_s: float | None) -> RunRecord:
    """The run with an outage of so many seconds, from which it recovered; None: not while anybody looked."""
    fault = run.faults[0]
    healed_ns = fault.confirmed_ns + round(dark_s * 1e9)
    send = run.operations[-1].model_copy(
        update={"started_ns": fault.confirmed_ns, "ended_ns": healed_ns + 10**9, "outcome": "ok", "error": None}
    )
    before = send.model_copy(update={"alias": "warm_up", "started_ns": 0, "ended_ns": 1000})
    measures = (
        MeasureRecord(name="outage.recovery", unit="s", value=recovered_s, censored_at=None if recovered_s else 9.0),
        MeasureRecord(name="outage.outage", unit="s", value=dark_s + (recovered_s or 9.0)),
        MeasureRecord(name="probe.time_to_ack", unit="s", value=dark_s + 1),
        MeasureRecord(name="warm_up.time_to_ack", unit="s", value=1e-6),
    )
    return run.model_copy(
        update={
            "run_id": f"{repeat:012x}", "repeat": repeat, "measures": measures, "expectations": (),
            "faults": (fault.model_copy(update={"healed_ns": healed_ns}),), "operations": (before, send),
        }
    )  # fmt: skip


def test_recovery_stands_beside_how_long_the_fault_had_lasted(read: Read, tmp_path: Path) -> None:
    run, _ = SyntheticBlackhole().run(1)
    told = [(1, 2.0, 0.5), (2, 4.0, 1.5), (3, 8.0, None)]
    write_lines(tmp_path / "runs.jsonl", [healed(run, *one) for one in told])
    rows = {row.measure: row for row in recovery(read(tmp_path)).collect()}
    assert set(rows) == {"outage.recovery", "outage.outage", "probe.time_to_ack"}, "before the fault, nothing recovers"
    row = rows["outage.recovery"]
    assert (row.alias, row.what, row.fault, row.n, row.censored) == ("outage", "recovery", "blackhole", 3, 1)
    assert [(p.dark_s, p.time, p.unended, p.repeat) for p in row.points] == [
        (2.0, 0.5, False, 1), (4.0, 1.5, False, 2), (8.0, 9.0, True, 3),
    ]  # fmt: skip
    assert (row.dark_s, row.dark_min_s, row.dark_max_s) == (4.0, 2.0, 8.0)
    assert (row.median, row.median_is_bound, row.p99, row.p99_is_bound) == (1.5, False, 9.0, True)
    ack = rows["probe.time_to_ack"]
    assert [(p.time, p.healed_after_call_s) for p in ack.points] == [(3.0, 2.0), (5.0, 4.0), (9.0, 8.0)]


def spent(events: list[EventRecord], what: str) -> tuple[Counter[str], float]:
    """Outcomes of dials or attempts and the seconds of all, by pairing ends with the last beginning of their own."""
    outcomes: Counter[str] = Counter()
    total_ns = 0
    open_: dict[Any, int] = {}
    for event in events:
        key = (event.connection, event.try_number, event.operation)
        if event.kind == f"{what}_started":
            open_[key] = event.at_ns
        elif event.kind == f"{what}_ended":
            outcomes[event.outcome or "ended"] += 1
            total_ns += event.at_ns - open_.pop(key)
    outcomes.update(["unended"] * len(open_))
    return +outcomes, total_ns / 1e9


def test_attempts_dials_and_refreshes_are_counted_by_run(read: Read, tmp_path: Path) -> None:
    told = [SyntheticBlackhole(brokers=3, bootstrap=2).run(repeat) for repeat in (1, 2)]
    silent, _ = SyntheticBlackhole(brokers=3, bootstrap=2).run(3)
    seen = EventRecord(
        run_id=silent.run_id, attempt=1, at_ns=silent.operations[-1].started_ns, source="wire", source_seq=0,
        kind="dial_seen", address="127.0.2.1:9092", connection=40001,
    )  # fmt: skip
    twice = [
        seen.model_copy(update={"run_id": run.run_id, "at_ns": event.at_ns, "source_seq": event.source_seq})
        for run, events in told
        for event in events
        if event.kind == "dial_started"
    ]
    write_lines(tmp_path / "runs.jsonl", [*(run for run, _ in told), silent])
    write_lines(tmp_path / "events.jsonl", [*(event for _, events in told for event in events), *twice, seen])
    rows = attempts(read(tmp_path)).collect()
    for run, events in told:
        own = [row for row in rows if row.run_id == run.run_id]
        for what in ("dial", "attempt", "refresh"):
            outcomes, seconds = spent(events, what)
            found: Counter[str] = Counter()
            for row in own:
                if row.tried == what:
                    found[row.outcome] += row["count"]
            assert found == outcomes, what
            assert sum(r.seconds or 0 for r in own if r.tried == what) == pytest.approx(seconds)
    assert {(r.operation, r.outcome) for r in rows if r.tried == "dial"} == {
        ("connect", "connected"), ("probe", "timeout"), ("probe", "seen on the wire"),
    }  # fmt: skip
    [wire] = [row for row in rows if row.outcome == "seen on the wire"]
    assert (wire["count"], wire.seconds, wire.run_id) == (1, None, seen.run_id)


def test_noise_tells_runs_that_were_tried_again(read: Read, tmp_path: Path) -> None:
    run, _ = SyntheticBlackhole().run(1)
    other = run.model_copy(update={"run_id": "b" * 12, "repeat": 2})
    lags = [NoiseRecord(loop_lag_p99_s=lag, loop_lag_max_s=2 * lag, samples=9) for lag in (0.5, 0.25, 0.001)]
    tries = [
        run.model_copy(update={"attempt": number, "noisy": number < 3, "noise": lag})
        for number, lag in enumerate(lags, start=1)
    ]
    write_lines(tmp_path / "runs.jsonl", [*tries, other])
    again, once = sorted(noise(read(tmp_path)).collect(), key=lambda row: row.repeat)
    assert (again.tries, again.noisy_tries, again.attempt, again.noisy) == (3, 2, 3, False)
    assert (again.loop_lag_p99_s, again.worst_lag_p99_s) == (0.001, 0.5)
    assert (once.tries, once.noisy_tries, once.worst_lag_p99_s) == (1, 0, run.noise.loop_lag_p99_s)


def test_the_profile_and_the_real_client_are_cases_of_their_own(read: Read, tmp_path: Path) -> None:
    told = [SyntheticBlackhole().run(repeat)[0] for repeat in (1, 2, 3)]
    real = [run.model_copy(update={"driver": "real", "run_id": f"{run.repeat:012x}"}) for run in told]
    write_lines(tmp_path / "runs.jsonl", [*told, *real])
    rows = timeouts(read(tmp_path)).where("measure = 'probe.time_to_error'").collect()
    assert sorted((row.driver, row.n) for row in rows) == [("bundled", 3), ("real", 3)]


def test_groups_know_their_brokers_and_copies_are_told_once(read: Read, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_suite(tmp_path / name, [SyntheticBlackhole(brokers=3), SyntheticBlackhole(brokers=1)], repeats=2)
    rows = groups(read(tmp_path / "a", tmp_path / "b")).collect()
    assert sorted((row.brokers, row.runs, row.statistic, row.suite) for row in rows) == [
        (1, 2, "mean", 0), (3, 2, "mean", 0),
    ]  # fmt: skip
    assert {row.case for row in rows} == {
        "Producer.Retry.Max=1, brokers=1, bootstrap=[1]", "Producer.Retry.Max=1, brokers=3, bootstrap=[1]",
    }  # fmt: skip


def test_agreement_keeps_its_sides_and_counts_their_words(read: Read, tmp_path: Path) -> None:
    write_suite(tmp_path, [SyntheticBlackhole()], repeats=1)
    sides = (
        SideResult(side="profile", runs=20, measured=20, median=8.856, values=(8.85, 8.86)),
        SideResult(side="real", runs=20, measured=18, censored=2, outcomes=(("ok", 18), ("i/o timeout", 2))),
    )
    compared = SideComparison(side="profile", reference="real", outcome="unsure", bound=0.1, level=0.001, needed=40)
    record = AgreementRecord(
        scenario="s", path="s.yaml", client="sarama", client_version="1.27.2", brokers=1, measure="probe.outcome",
        unit="outcome", parameters=(NamedValue(name="cluster.brokers", text="1"),), sides=sides, compared=(compared,),
        outcome="unsure",
    )  # fmt: skip
    write_lines(tmp_path / "agreement.jsonl", [record])
    [row] = agreement(read(tmp_path)).collect()
    assert (row.case, row.outcome, row.compared[0].needed) == ("brokers=1", "unsure", 40)
    assert (row.profile_median, row.real_runs, row.real_censored, row.sim_runs) == (8.856, 20, 2, None)
    assert [(word.word, word["count"]) for word in row.sides[1].outcomes] == [("ok", 18), ("i/o timeout", 2)]


def test_of_a_scenario_that_was_changed_the_folder_named_last_says_what_is_expected(read: Read, tmp_path: Path) -> None:
    for number, name in enumerate(("old", "new")):
        runs = []
        for repeat in (1, 2):
            run, _ = SyntheticBlackhole(retries=1).run(repeat)
            later = tuple(
                one.model_copy(update={"line": 50 + number, "source": name}) if one.kind != "claim" else
                one.model_copy(update={"source": name})
                for one in run.expectations
            )  # fmt: skip
            runs.append(
                run.model_copy(update={"run_id": f"{10 * number + repeat:012x}", "about": name, "expectations": later})
            )
        (tmp_path / name).mkdir()
        write_lines(tmp_path / name / "runs.jsonl", runs)
    for order in (("old", "new"), ("new", "old")):
        records = read(*(tmp_path / name for name in order))
        [row] = timeouts(records).where("measure = 'probe.time_to_error'").collect()
        assert (row.n, row.line, row.source, row.about) == (4, 51 if order[1] == "new" else 50, order[1], order[1])
        assert {row.source for row in claims(records).collect()} == {order[1]}
