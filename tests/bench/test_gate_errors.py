"""Protects the measurement of the gate's own errors: it draws from real runs of 14 scenarios, the same ones each time,
and a slow-down that it makes is one."""

import re

import pytest

from bench import gate_errors


def test_the_runs_it_draws_from_are_many_and_name_no_machines_folders() -> None:
    pools = gate_errors.pools()
    assert len(pools) == 14
    assert all(len(pool.late_s) >= 30 for cases in pools.values() for pool in cases)
    text = gate_errors.RUNS.read_text()
    assert not re.search(r'"/|://|results/', text)
    assert '"environment": "local"' in text


def test_a_suite_is_drawn_the_same_each_time_and_nothing_changed_is_no_alarm() -> None:
    said = [gate_errors.null_suite(20, number) for number in range(3)]
    assert said == [gate_errors.null_suite(20, number) for number in range(3)]
    assert "alarm" not in said


def test_both_promises_are_printed_with_their_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    assert gate_errors.main(["--null", "20", "--slower", "14"]) in (0, 1)
    said = capsys.readouterr().out
    assert re.search(
        r"alarm where nothing changed: 0 of 20, 0\.00% \[0\.00% \.\. 16\.84%\], asked for: at most 1%", said
    )
    assert re.search(r"10% \+ 100 ms that were found: 1[0-4] of 14, .*asked for: at least 95%", said)
