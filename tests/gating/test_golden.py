"""Protects the text of `faultlab gate`: what it says of slower, lost and unsure cases, to the last column."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import suites

from cli.exit_codes import ExitCode
from cli.gate.result import GateOptions, report_result
from cli.terminal.console import console
from harness.gating.gate import gate
from harness.gating.reading import read_suite_runs
from harness.records.run import RunRecord

ANSWER = """\
compared 43 of 44 scenarios, 20 + 20 runs, same machine
REGRESSION  kafka-go-blackhole  kafka-go 0.4.50  time to error
            17.50 -> 19.62 s  +2.12 [+2.06 +2.18]  q<0.0001  floor 0.90
            where: 1 more dial, 1 more BackoffMax
LOST        sarama-breaker-open  in the baseline, not run now
UNSURE      java-reset  +0.31 s [+0.01 +0.61]  needs 71 runs a side
unchanged   41, largest +0.01 s

REGRESSED   1 slower, 1 lost, 1 unsure                                   exit 10
repeat      faultlab gate --run --only kafka-go-blackhole --only java-reset
accept      faultlab gate --update
"""
UNCHANGED = 41


def kafka_go(times_s: Sequence[float], *, dials: float, pauses: float) -> list[RunRecord]:
    counts = {"probe.dials": dials, "probe.waits(BackoffMax)": pauses}
    return suites.repeated(times_s, "kafka-go-blackhole", client="kafka-go", version="0.4.50", counts=counts)


def before() -> list[RunRecord]:
    steady = [run for n in range(UNCHANGED) for run in suites.repeated(suites.spread(2.0), f"steady-{n:02}")]
    slow = kafka_go(suites.spread(17.5, step_s=0.02), dials=4, pauses=3)
    wide = suites.repeated(suites.spread(9.0, step_s=0.1), "java-reset")
    return [*steady, *slow, *wide, *suites.repeated(suites.spread(1.8), "sarama-breaker-open")]


def now() -> list[RunRecord]:
    steady = [run for n in range(UNCHANGED) for run in suites.repeated(suites.spread(2.01), f"steady-{n:02}")]
    slow = kafka_go(suites.spread(19.62, step_s=0.02), dials=5, pauses=4)
    return [*steady, *slow, *suites.repeated(suites.spread(9.31, step_s=0.1), "java-reset")]


def test_the_whole_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    was, there = suites.write_suite(tmp_path / "a", before()), suites.write_suite(tmp_path / "b", now())
    gated = gate(read_suite_runs(was), read_suite_runs(there))
    options = GateOptions(inconclusive="fail", json=False, show_all=False, baseline=None)
    assert report_result(console(), gated, options) is ExitCode.REGRESSED
    said = capsys.readouterr().out
    assert said == ANSWER
