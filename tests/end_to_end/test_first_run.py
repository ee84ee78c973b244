"""Protects the house's main job: a blackholed Sarama producer is measured, held against its formula, and recorded."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SHORTER = ("--set", "Net.ReadTimeout=600ms", "--set", "Net.DialTimeout=300ms")
"""On real sockets, where time is spent, the same sums of shorter times."""
SCENARIO = Path(__file__).parents[2] / "scenarios" / "sarama" / "blackhole-established.scenario.yaml"


@pytest.mark.parametrize(
    ("environment", "more", "read_s"), [("sim", (), 2.0), pytest.param("local", SHORTER, 0.6, marks=[pytest.mark.cell])]
)
@pytest.mark.timeout(280)
def test_established_blackhole_is_measured_and_judged(
    environment: str, more: tuple[str, ...], read_s: float, tmp_path: Path
) -> None:
    """On a machine that other tests keep busy, runs may be inconclusive for noise: then they have to say so."""
    out = tmp_path / "out"
    run = [sys.executable, "-m", "cli", "run", str(SCENARIO), "--env", environment, "--repeat", "1", *more]
    done = subprocess.run(
        [*run, "--out", str(out)],
        capture_output=True, text=True, timeout=270, check=False,
    )  # fmt: skip
    tries = [json.loads(line) for line in (out / "runs.jsonl").read_text().splitlines()]
    records = {record["run_id"]: record for record in tries}.values()
    noisy = [record for record in records if record["noisy"]]
    assert done.returncode == (2 if noisy else 0), done.stdout + done.stderr
    quiet = [record for record in records if not record["noisy"]]
    assert quiet, "every run was too noisy: nothing was tested"
    for record in quiet:
        assert record["verdict"] == "pass", record["reasons"]
        measures = {measure["name"]: measure["value"] for measure in record["measures"]}
        settings = {setting["name"]: setting for setting in record["settings"]}
        if settings["Producer.Retry.Max"]["number"] == 0 and record["client_version"] == "1.27.2":
            assert measures["probe.time_to_error"] == pytest.approx(read_s, abs=0.07)
        for judged in record["expectations"]:
            if judged["kind"] == "claim" and judged["outcome"] != "skipped":
                assert (judged["outcome"] == "held") == judged["declared_holds"]
