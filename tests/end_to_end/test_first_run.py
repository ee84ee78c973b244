"""Protects the house's main job: a blackholed Sarama producer is measured, held against its formula, and recorded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIO = Path(__file__).parents[2] / "scenarios" / "sarama" / "blackhole-established.scenario.yaml"


@pytest.mark.parametrize("environment", ["sim", pytest.param("local", marks=pytest.mark.cell)])
def test_established_blackhole_is_measured_and_judged(environment: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-m", "cli", "run", str(SCENARIO), "--env", environment, "--out", str(out)],
        capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    records = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    assert records
    for record in records:
        assert record["verdict"] == "pass"
        settings = {s["name"]: s for s in record["settings"]}
        if settings["Producer.Retry.Max"]["number"] == 0:
            measures = {m["name"]: m for m in record["measures"]}
            assert measures["probe.time_to_error"]["value"] == pytest.approx(2.0, abs=0.07)
