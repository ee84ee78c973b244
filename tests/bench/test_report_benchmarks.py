"""Protects the records that reports are measured with: as many as asked, whole, and runs of their own."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bench.inputs.synthetic_records import multiply
from bench.inputs.synthetic_suite import SyntheticBlackhole, write_suite
from harness.records.event import EventRecord
from harness.records.run import RunRecord

RUNS, EVENTS = 40, 2000


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "real").mkdir()
    write_suite(
        tmp_path / "real", [SyntheticBlackhole(retries=m, brokers=n) for m in (0, 1) for n in (1, 3)], repeats=3
    )
    return tmp_path / "real"


def test_multiplied_runs_are_records_with_stretched_times(source: Path, tmp_path: Path) -> None:
    multiply(source, tmp_path / "many", runs=RUNS, events=EVENTS)
    runs = [RunRecord.model_validate_json(line) for line in (tmp_path / "many/runs.jsonl").read_bytes().splitlines()]
    events = [
        EventRecord.model_validate_json(one) for one in (tmp_path / "many/events.jsonl").read_bytes().splitlines()
    ]
    assert len({run.run_id for run in runs}) == RUNS
    assert {event.run_id for event in events} == {run.run_id for run in runs}
    assert len(events) > EVENTS * 0.9
    for run in runs:
        last_ns = max(event.at_ns for event in events if event.run_id == run.run_id)
        assert last_ns == pytest.approx(run.operations[-1].ended_ns, abs=10)
        assert run.measures[0].value == pytest.approx(run.expectations[0].measured)
    assert len({run.measures[0].value for run in runs}) == RUNS


def test_columns_say_what_lines_say(source: Path, tmp_path: Path) -> None:
    multiply(source, tmp_path / "lines", runs=RUNS, events=EVENTS)
    multiply(source, tmp_path / "columns", runs=RUNS, events=EVENTS, as_parquet=True)
    lines = [json.loads(line) for line in (tmp_path / "lines/events.jsonl").read_bytes().splitlines()]
    columns = pq.read_table(tmp_path / "columns/events.parquet").to_pylist()
    for line, row in zip(lines, columns, strict=True):
        assert abs(line.pop("at_ns") - row.pop("at_ns")) <= 1
        assert line == row
