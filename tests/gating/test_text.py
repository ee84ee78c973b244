"""Protects the text of `faultlab gate`: what it says of slower, lost, unsure and noted cases, in so many columns."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
import suites

from cli.exit_codes import ExitCode
from cli.gate.result import GateOptions, report_result
from cli.show.formatting import WIDTH
from cli.terminal.console import console
from harness.gating.gate import gate
from harness.gating.reading import read_suite_runs
from harness.records.run import RunRecord

STEADY = 41


def kafka_go(times_s: Sequence[float], *, dials: float, pauses: float) -> list[RunRecord]:
    counts = {"probe.dials": dials, "probe.waits(BackoffMax)": pauses}
    return suites.repeated(times_s, "kafka-go-blackhole", client="kafka-go", version="0.4.50", counts=counts)


def steady(time_s: float) -> list[RunRecord]:
    return [run for n in range(STEADY) for run in suites.repeated(suites.spread(time_s), f"steady-{n:02}")]


def wide(name: str, time_s: float) -> list[RunRecord]:
    """The floor is 0.47 s."""
    return suites.repeated(suites.spread(time_s, step_s=0.1), name)


def answer(
    folder: Path, was: Sequence[RunRecord], now: Sequence[RunRecord], capsys: pytest.CaptureFixture[str]
) -> tuple[ExitCode, dict[str, list[str]]]:
    """The exit code, and the lines by their first words; what continues a line is joined to it."""
    sides = [suites.write_suite(folder / name, runs) for name, runs in (("was", was), ("now", now))]
    options = GateOptions(inconclusive="fail", json=False, show_all=False, baseline=None)
    code = report_result(console(), gate(*map(read_suite_runs, sides)), options)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= WIDTH
    said: dict[str, list[str]] = {}
    for line in re.sub(r"\n +", "  ", text).splitlines():
        word, _, rest = line.partition(" ")
        said.setdefault(word, []).append(rest.strip())
    return code, said


def test_each_kind_of_case_has_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow, slower = (
        kafka_go(suites.spread(time_s, step_s=0.02), dials=dials, pauses=dials - 1)
        for time_s, dials in ((17.5, 4), (19.62, 5))
    )
    was = [*steady(2.0), *slow, *wide("java-reset", 9.0), *wide("java-refused", 9.0), *wide("breaker-open", 1.8)]
    now = [*steady(2.01), *slower, *wide("java-reset", 9.6), *wide("java-refused", 9.31)]
    code, said = answer(tmp_path, was, now, capsys)
    assert code is ExitCode.REGRESSED
    assert said["compared"] == ["44 of 45 scenarios, 20 + 20 runs, same machine"]
    (regression,) = said["REGRESSION"]
    for part in (
        "kafka-go-blackhole  kafka-go 0.4.50  time to error", "17.50 -> 19.62 s  +2.12 [", "q<", "floor 0.90",
        "where:", "1 more dial", "1 more BackoffMax",
    ):  # fmt: skip
        assert part in regression
    assert said["LOST"] == ["breaker-open  in the baseline, not run now"]
    for word, name, shift in (("UNSURE", "java-reset", "+0.60 s ["), ("NOTED", "java-refused", "+0.31 s [")):
        (line,) = said[word]
        assert line.startswith(f"{name}  {shift}")
        assert " needs " in line
        assert line.endswith(" runs a side")
    assert said["unchanged"] == [f"{STEADY}, largest +0.01 s"]
    (verdict,) = said["REGRESSED"]
    assert {"1 slower", "1 lost", "1 unsure", "1 noted"} <= set(verdict.partition("  ")[0].split(", "))
    assert verdict.endswith("exit 10")
    (repeat,) = said["repeat"]
    assert all(f"--only {name}" in repeat for name in ("kafka-go-blackhole", "java-reset"))
    assert "java-refused" not in repeat
    assert said["accept"] == ["faultlab gate --update"]


def test_what_is_only_noted_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = answer(tmp_path, wide("java-refused", 9.0), wide("java-refused", 9.31), capsys)
    assert code is ExitCode.PASSED
    assert said["UNCHANGED"][0].startswith("1 noted  ")
    assert "repeat" not in said
