"""Protects the measurement of the gate's own errors: it draws from real runs of 14 scenarios, the same ones each time,
and a slow-down that it makes is one."""

import re
from random import Random

import pytest

from bench import gate_constants, gate_errors, gate_other_data

pytestmark = pytest.mark.ci


def test_the_runs_it_draws_from_are_many_and_name_no_machines_folders() -> None:
    pools = gate_errors.pools()
    assert len(pools) == 14
    assert all(len(pool.timer_lag_s) >= 30 for cases in pools.values() for pool in cases)
    text = gate_errors.RUNS.read_text()
    assert not re.search(r'"/|://|results/', text)
    assert '"environment": "local"' in text


def test_a_suite_is_drawn_the_same_each_time_and_nothing_changed_is_no_alarm() -> None:
    said = [gate_errors.null_suite(20, number) for number in range(3)]
    assert said == [gate_errors.null_suite(20, number) for number in range(3)]
    assert "alarm" not in said


def test_the_three_promises_are_printed_with_their_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    assert gate_errors.main(["--null", "20", "--slower", "14"]) in (0, 1)
    said = capsys.readouterr().out
    assert re.search(
        r"alarm where nothing changed: 0 of 20, 0\.00% \[0\.00% \.\. 16\.84%\], asked for: at most 1%", said
    )
    assert re.search(r"exit code other than 0 where nothing changed: \d of 20, .*asked for: at most 3%", said)
    assert re.search(r"10% \+ 100 ms that were found: 1[0-4] of 14, .*asked for: at least 95%", said)


def test_the_same_is_asked_of_other_data(capsys: pytest.CaptureFixture[str]) -> None:
    """Each variation has its row; the one that no client can be told slower in is no refuted promise."""
    assert gate_other_data.main(["--suites", "4", "--only", "runs a side"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row[:17].strip() for row in rows] == ["5 runs a side", "10 runs a side", "40 runs a side"]
    assert all(row[32:42].strip().startswith("0.0% [") for row in rows), "no alarm where nothing changed"
    assert rows[2].count("100.0%") == 2, "forty a side find every slow-down, up to the interval's own end"
    with pytest.raises(SystemExit):
        gate_other_data.main(["--only", "weather"])


@pytest.mark.parametrize("variation", gate_other_data.VARIATIONS, ids=lambda variation: variation.name)
def test_a_variation_draws_as_many_runs_and_the_same_each_time(variation: gate_other_data.Variation) -> None:
    pool = variation.suite(Random(1))[0]
    drawn, again = (variation.draw(pool, Random(2), variation.runs, None) for _ in range(2))
    assert drawn == again
    assert drawn.counted == variation.runs
    assert drawn.samples.keys() <= pool.measures.keys()


def test_every_rule_beside_the_gate_s_own_is_counted_even_where_it_never_alarms(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert gate_constants.main(["--suites", "2"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"  test at 1%, interval above the floor +0\.0%  +0\.0%  +0\.0%\n", said)
    assert re.search(r"  test at 1%, interval of 90% above 5% \+ 20ms +(50|100)\.0%\n", said)
