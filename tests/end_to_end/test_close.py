"""Protects `{do: close}`: the client closes, its process exits, and the run goes on to its end, in both worlds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIO = """
format: 1
scenario: close-it
about: A connected producer is closed.
client: {profile: sarama, version: 1.27.2, bootstrap: [1]}
cluster: {brokers: 1, topics: [{name: orders}]}
steps:
  - {do: connect, expect: ok}
  - {do: send, as: warm_up, expect: acknowledged}
  - {do: close, expect: ok}
expect:
  - {measure: close.time_to_end, at_most: 20s}
"""


@pytest.mark.parametrize("environment", ["sim", pytest.param("local", marks=[pytest.mark.cell])])
def test_a_client_that_is_closed_ends_its_run(environment: str, tmp_path: Path) -> None:
    file = tmp_path / "close.scenario.yaml"
    file.write_text(SCENARIO)
    run = [sys.executable, "-m", "cli", "run", str(file), "--env", environment, "--out", str(tmp_path / "out")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = (json.loads(line) for line in (tmp_path / "out" / "runs.jsonl").read_text().splitlines())
    assert record["verdict"] == "pass", record["reasons"]
    assert [one["outcome"] for one in record["operations"]] == ["ok", "ok", "ok"]
