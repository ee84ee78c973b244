"""Records for the tests of this room, as a run of the bundled Sarama profile leaves them."""

from harness.records.event import EventRecord
from harness.records.group import GroupRecord
from harness.records.manifest import Manifest
from harness.records.run import KernelRecord, MeasureRecord, NamedValue, NoiseRecord, RunRecord, Verdict


def manifest(*run_ids: str) -> Manifest:
    return Manifest(
        suite="20260302-1402",
        faultlab="0.1.0",
        environment="sim",
        seed=7,
        arguments=("scenarios",),
        folder="/tmp",
        started_at="2026-03-02T14:02:00+00:00",
        run_ids=run_ids,
        machine="2 cores",
    )


def run(run_id: str, *, attempt: int = 1, verdict: Verdict = "pass", measured: float = 2.0) -> RunRecord:
    return RunRecord(
        run_id=run_id,
        attempt=attempt,
        scenario="sarama-blackhole",
        path="scenarios/sarama/blackhole.scenario.yaml",
        client="sarama",
        client_version="1.27.2",
        driver="bundled",
        environment="sim",
        brokers=1,
        bootstrap=(1,),
        settings=(NamedValue(name="Net.ReadTimeout", text="2s", seconds=2.0),),
        seed=7,
        repeat=1,
        started_at="2026-03-02T14:02:01+00:00",
        duration_s=2.1,
        verdict=verdict,
        measures=(MeasureRecord(name="probe.time_to_error", unit="s", value=measured),),
        noise=NoiseRecord(loop_lag_p99_s=0.0, loop_lag_max_s=0.0, samples=0),
        kernel=KernelRecord(release="simulated", hz=1000),
    )


def group(outcome: str) -> GroupRecord:
    """What 60 runs amount to."""
    return GroupRecord.model_validate(
        {
            "scenario": "sarama-stale-bootstrap", "path": "", "client": "sarama", "client_version": "1.27.2",
            "driver": "bundled", "environment": "sim", "statistic": "share", "of": "probe.outcome == 'failed'",
            "kind": "equals", "formula": "1/6", "unit": "share", "runs": 60, "measured": 60, "estimate": 0.15,
            "outcome": outcome, "verdict": {"held": "pass", "failed": "fail"}[outcome],
        }
    )  # fmt: skip


def events(run_id: str, *, count: int, attempt: int = 1) -> list[EventRecord]:
    return [
        EventRecord(
            run_id=run_id,
            attempt=attempt,
            at_ns=number,
            source="subject",
            source_seq=number,
            kind="state",
            text="ä" * 30,
        )
        for number in range(count)
    ]
