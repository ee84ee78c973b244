"""Protects the tool that keeps real runs for measuring the gate: what it writes is what the benchmark draws from, and
half a recording is refused."""

from pathlib import Path
from random import Random

import pytest
import suites

from bench import gate_errors
from tools import gate_recording

RUNS = 32
NOISY = 2


def recording(path: Path, *, scenarios: tuple[str, ...] = gate_recording.SCENARIOS, noisy: int = NOISY) -> Path:
    """A suite of these scenarios; of each, some runs are noisy, and one had not ended."""
    runs = []
    for name in scenarios:
        times = suites.spread(2.0, RUNS)
        runs += [
            suites.record(
                f"sarama-{name}", repeat=number, time_s=time_s, noisy=number < noisy, counts={"probe.dials": 4}
            )
            for number, time_s in enumerate(times)
        ]
        runs.append(suites.record(f"sarama-{name}", repeat=RUNS, time_s=None, censored_s=60.0))
    return suites.write_suite(path, runs)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(gate_recording, "FILE", tmp_path / "data" / "runs.json")
    return gate_recording.FILE


def test_the_benchmark_draws_what_was_recorded(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate_recording.main([str(recording(tmp_path / "r"))]) == 0
    assert "14 cases, 434 runs" in capsys.readouterr().out
    monkeypatch.setattr(gate_errors, "RUNS", file)
    found = gate_errors.pools.__wrapped__()
    assert list(found) == sorted(f"sarama-{name}" for name in gate_recording.SCENARIOS)
    (pool,) = found["sarama-killed"]
    drawn = pool.of(range(len(pool.timer_lag_s)))
    assert drawn.samples["probe.time_to_error"].values == tuple(
        pytest.approx(time_s, abs=1e-4) for time_s in sorted(suites.spread(2.0, RUNS)[NOISY:])
    )
    assert drawn.samples["probe.time_to_error"].censored == (60.0,)
    later = pool.of(range(5), slower="probe.time_to_error", extra_s=[0.5] * 5)
    first = suites.spread(2.0, RUNS)[NOISY]
    assert later.samples["probe.time_to_error"].values[0] == pytest.approx((first + 0.5) * 1.1 + 0.1, abs=1e-3)
    assert later.samples["probe.time_to_end"].values[0] == pytest.approx(first + 0.5, abs=1e-3)
    assert later.samples["probe.dials"].values == (4.0,) * 5
    assert str(tmp_path) not in file.read_text()
    assert pool.draw(Random(1), 20) == pool.draw(Random(1), 20)


def test_half_a_recording_is_refused(tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate_recording.main([str(recording(tmp_path / "few", scenarios=("killed", "paused")))]) == 1
    assert "not run: slow-answer, leader-killed," in capsys.readouterr().err
    assert gate_recording.main([str(recording(tmp_path / "noisy", noisy=RUNS + 1))]) == 1
    assert "fewer than 30 conclusive runs: sarama-bootstrap-refused (1), " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        gate_recording.main([str(tmp_path)])
    assert "is no results folder" in capsys.readouterr().err
    assert not file.exists()
