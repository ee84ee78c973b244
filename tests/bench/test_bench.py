"""Protects `make bench`: every benchmark is found, and what it prints are figures with units and a scenario's name."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import bench
from bench import sim_runs

pytestmark = pytest.mark.ci

ROOT = Path(bench.__file__).parents[1]


def test_every_benchmark_takes_arguments_of_its_own() -> None:
    assert set(bench.names()) >= {"lab_error", "sim_loop", "sim_runs"}
    for name in bench.names():
        (parameter,) = inspect.signature(import_module(f"bench.{name}").main).parameters.values()
        assert parameter.default is None, name


def test_a_benchmark_that_does_not_exist_is_said() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "lunch"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "there is no benchmark lunch (there are: " in done.stderr
    assert " lab_error," in done.stderr


def test_whole_runs_are_made_and_written(capsys: pytest.CaptureFixture[str]) -> None:
    """The target is for an idle machine: whether it is reached is not asked here."""
    assert sim_runs.main(["--seconds", "1"]) in (0, 1)
    said = capsys.readouterr().out
    assert re.search(r"sarama-blackhole-established, N=k=1, m=1: \d+ whole runs a CPU second", said)
    assert re.search(r"a run of \d\d events: simulate \d+\.\d\d ms, judge .* ms, record .* ms, write .* ms", said)
