"""From a plan, its story and its judgement to the records that are kept: nothing is decided here, only written down."""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from harness.judging import Judgement
from harness.memo import memoize_last
from harness.plan import ResolvedValue, RunPlan
from harness.records.event import encode_events
from harness.records.run import (
    FaultRecord,
    IntegrityRecord,
    KernelRecord,
    LabErrorRecord,
    NamedValue,
    NoiseRecord,
    OperationRecord,
    RunRecord,
)
from harness.story import FaultStory, Integrity, Kernel, OperationStory, Story, Value


def run_record(plan: RunPlan, story: Story, judgement: Judgement, *, started_at: str, duration_s: float) -> RunRecord:
    """The line of runs.jsonl. `started_at` is wall clock, `duration_s` what the run took the lab."""
    return RunRecord(
        run_id=plan.run_id,
        attempt=plan.attempt,
        scenario=plan.scenario,
        path=shown_path(plan.path),
        about=plan.about,
        tags=plan.tags,
        client=plan.client.name,
        client_version=plan.client.version,
        driver=plan.client.driver,
        environment=plan.environment,
        broker=plan.cluster.kind,
        broker_version=plan.cluster.version,
        brokers=plan.cluster.brokers,
        bootstrap=plan.client.bootstrap,
        parameters=tuple(named_value(value) for value in plan.parameters),
        settings=_settings(plan.settings),
        seed=plan.seed,
        repeat=plan.repeat,
        started_at=started_at,
        duration_s=round(duration_s, 6),
        ready_s=story.ready_s,
        verdict=judgement.verdict,
        reasons=judgement.reasons,
        noisy=judgement.noisy,
        measures=judgement.measures,
        expectations=judgement.judged,
        operations=tuple(operation_record(operation) for operation in story.operations),
        faults=tuple(_fault(fault) for fault in story.faults),
        noise=NoiseRecord(
            loop_lag_p99_s=story.noise.loop_lag_p99_s,
            loop_lag_max_s=story.noise.loop_lag_max_s,
            samples=story.noise.samples,
        ),
        kernel=_kernel(story.kernel),
        integrity=None if story.integrity is None else _integrity(story.integrity),
        error=None
        if story.error is None
        else LabErrorRecord(code=story.error.code, text=story.error.text, blame=story.error.blame),
    )


def event_lines(plan: RunPlan, story: Story) -> bytes:
    """The lines of events.jsonl, in order."""
    return encode_events(plan.run_id, plan.attempt, sorted(story.events))


def shown_path(path: Path) -> str:
    """Relative to where the command was given, if it is below."""
    return _below(path, os.getcwd())  # noqa: PTH109  (asked for by every run)


@lru_cache
def _below(path: Path, folder: str) -> str:
    return os.fspath(path.relative_to(folder) if path.is_relative_to(folder) else path)


@memoize_last
def _settings(settings: tuple[ResolvedValue, ...]) -> tuple[NamedValue, ...]:
    return tuple(named_value(value) for value in settings)


def named_value(named: ResolvedValue) -> NamedValue:
    """A setting or parameter as records keep it."""
    return NamedValue(
        name=named.name,
        text=named.text,
        seconds=named.value if named.unit == "s" else None,
        number=None if named.unit == "s" else named.value,
    )


def operation_record(story: OperationStory) -> OperationRecord:
    """An operation as records keep it."""
    return OperationRecord(
        alias=story.alias,
        operation=story.operation,
        started_ns=story.started_ns,
        ended_ns=story.ended_ns,
        outcome=story.outcome.value,
        error=story.error,
        error_class=story.error_class,
        stamped=story.stamped,
        partition=story.partition,
        offset=story.offset,
        result=_values(story.further_result),
        written=None if story.written is None else story.written.value,
    )


def _fault(story: FaultStory) -> FaultRecord:
    return FaultRecord(
        alias=story.alias,
        fault=story.fault,
        parameters=_values(story.parameters),
        began_ns=story.began_ns,
        confirmed_ns=story.confirmed_ns,
        healing_ns=story.healing_ns,
        healed_ns=story.healed_ns,
        proof=story.proof,
        count=story.count,
        proven=story.proven,
        finding=story.finding,
        met_by=story.met_by,
    )


def _integrity(integrity: Integrity) -> IntegrityRecord:
    return IntegrityRecord(
        settled_s=integrity.settled.seconds,
        settled=integrity.settled.complete,
        records=len(integrity.copies),
        strangers=integrity.foreign_records,
    )


@memoize_last
def _kernel(kernel: Kernel) -> KernelRecord:
    return KernelRecord(release=kernel.release, hz=kernel.hz, sysctls=_values(kernel.sysctls))


def _values(values: Mapping[str, Value]) -> tuple[NamedValue, ...]:
    return tuple(
        NamedValue(
            name=name,
            text=str(value),
            number=float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None,
        )
        for name, value in values.items()
    )
