"""Suites for the tests of this room and of the gate: records as runs leave them, and the folders that hold them."""

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.comparing.cases import CaseRuns, SuiteRuns
from harness.comparing.samples import Sample
from harness.comparing.symptoms import Symptom
from harness.records.case_key import CaseKey
from harness.records.manifest import Manifest
from harness.records.run import RunRecord

MACHINE = "Test CPU, 2 cores, 7.8 GiB"


def record(
    scenario: str = "sarama-blackhole",
    *,
    repeat: int = 1,
    time_s: float | None = 2.0,
    censored_s: float | None = None,
    verdict: str = "pass",
    outcome: str = "failed",
    error_class: str | None = "io.EOF",
    proven: bool = True,
    noisy: bool = False,
    client: str = "sarama",
    version: str = "1.27.2",
    parameters: dict[str, str] | None = None,
    settings: dict[str, str] | None = None,
    counts: dict[str, float] | None = None,
    times: dict[str, float] | None = None,
    lag_s: float = 0.001,
    environment: str = "local",
) -> RunRecord:
    """One run whose `probe` took `time_s`, or had not ended after `censored_s`."""
    measures: list[dict[str, Any]] = [
        {"name": "probe.time_to_error", "unit": "s", "value": time_s, "censored_at": censored_s},
        {"name": "probe.time_to_end", "unit": "s", "value": time_s, "censored_at": censored_s},
    ]
    measures += [{"name": name, "unit": "s", "value": value} for name, value in (times or {}).items()]
    measures += [{"name": name, "unit": "count", "value": value} for name, value in (counts or {}).items()]
    named = [{"name": name, "text": text} for name, text in (parameters or {}).items()]
    identity = f"{scenario} {client} {version} {parameters} {repeat}"
    return RunRecord.model_validate(
        {
            "run_id": f"{random.Random(identity).getrandbits(48):012x}", "attempt": 1, "scenario": scenario,
            "path": f"scenarios/{scenario}.scenario.yaml", "client": client, "client_version": version,
            "driver": "bundled", "environment": environment, "brokers": 1, "bootstrap": [1], "parameters": named,
            "settings": [{"name": name, "text": text} for name, text in (settings or {}).items()], "seed": repeat,
            "repeat": repeat, "started_at": "2026-03-02T14:02:01+00:00", "duration_s": 2.5, "verdict": verdict,
            "noisy": noisy, "measures": measures,
            "operations": [
                {"alias": "probe", "operation": "send", "started_ns": 0, "ended_ns": 1,
                 "outcome": "censored" if censored_s is not None and time_s is None else outcome,
                 "error_class": error_class if outcome == "failed" else None, "stamped": "subject"},
            ],
            "faults": [
                {"alias": "outage", "fault": "blackhole", "began_ns": 0, "confirmed_ns": 0, "healed_ns": 1,
                 "proof": "packets_dropped", "count": 5 if proven else 0, "proven": proven,
                 "finding": "dropped 5 packets" if proven else "dropped 0 packets"},
            ],
            "noise": {"loop_lag_p99_s": lag_s, "loop_lag_max_s": lag_s, "samples": 100},
            "kernel": {"release": "6.1", "hz": 1000},
        }
    )  # fmt: skip


def repeated(times_s: Iterable[float], scenario: str = "sarama-blackhole", **more: Any) -> list[RunRecord]:
    """A run for each time."""
    return [record(scenario, repeat=number, time_s=s, **more) for number, s in enumerate(times_s, start=1)]


def spread(middle_s: float, runs: int = 20, *, step_s: float = 0.001) -> list[float]:
    """Times around `middle_s`, none of them equal."""
    return [middle_s + (number - (runs - 1) / 2) * step_s for number in range(runs)]


def write_suite(folder: Path, runs: Sequence[RunRecord], *, machine: str = MACHINE, environment: str = "local") -> Path:
    folder.mkdir(parents=True)
    manifest = Manifest.model_validate(
        {
            "suite": folder.name, "faultlab": "0.1.0", "environment": environment, "seed": 7,
            "arguments": ["--env", environment, "--seed", "7", "--"], "folder": str(folder),
            "started_at": "2026-03-02T14:02:00+00:00", "run_ids": [run.run_id for run in runs], "machine": machine,
        }
    )  # fmt: skip
    (folder / "manifest.json").write_text(manifest.model_dump_json())
    (folder / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs))
    return folder


def case(
    scenario: str = "one",
    *,
    times: dict[str, Sequence[float]] | None = None,
    censored: dict[str, Sequence[float]] | None = None,
    counts: dict[str, Sequence[float]] | None = None,
    happened: dict[str, int] | None = None,
    counted: int | None = None,
    timer_lag_s: float = 0.0,
) -> CaseRuns:
    """A case by its samples alone."""
    samples = {
        name: Sample("s", tuple(sorted(values)), tuple((censored or {}).get(name, ())))
        for name, values in (times or {}).items()
    }
    samples |= {name: Sample("count", tuple(sorted(values))) for name, values in (counts or {}).items()}
    number = counted if counted is not None else max((len(sample) for sample in samples.values()), default=0)
    return CaseRuns(
        key=CaseKey(scenario, "sarama", "1.27.2", "bundled", "local"), runs=number, counted=number, samples=samples,
        happened={Symptom.parse(text): times for text, times in (happened or {}).items()},
        operations=("probe",), timer_lag_s=timer_lag_s,
    )  # fmt: skip


def side(*cases: CaseRuns, machine: str = MACHINE) -> SuiteRuns:
    return SuiteRuns(source="here", machine=machine, faultlab="0.1.0", cases=cases)


def parsed(text: str) -> Any:
    return json.loads(text)
