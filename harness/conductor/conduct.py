"""Conducts one run. Whatever happens, its faults are healed, its subject is ended and its story is returned."""

import asyncio
from pathlib import Path

from harness.conductor.integrity import read_integrity, with_write_status
from harness.conductor.recorder import Recorder
from harness.conductor.schedule import Schedule
from harness.drivers import SubjectError
from harness.environments.world import ProgressCallback, World, WorldError
from harness.plan import RunPlan
from harness.stats import p99
from harness.story import Integrity, LabError, Noise, Story


async def conduct(plan: RunPlan, world: World, progress: ProgressCallback, logs: Path | None) -> Story:
    """Follow a plan in a world. This is the `harness.environments.world.Conduct` that environments get.

    A failure of the lab or of the subject becomes the story's `error`; what was measured before it is kept. Raises
    only CancelledError, after healing.
    """
    recorder = Recorder(world.now_ns())
    schedule = Schedule(plan, world, recorder, progress, logs)
    error: LabError | None = None

    def stop(code: str, text: str) -> None:
        nonlocal error
        error = error or LabError(code=code, text=text)
        schedule.stop()

    def world_failed(failed: "asyncio.Future[str]") -> None:
        if not failed.cancelled():
            stop("world-failed", failed.result())

    failure = world.failure()
    failure.add_done_callback(world_failed)
    overrun = asyncio.get_running_loop().call_later(
        plan.limit_s, stop, "run-overran", f"the run had not ended after {plan.limit_s:g} s, its limit: it was stopped"
    )
    try:
        await schedule.follow()
    except (SubjectError, WorldError) as failed:
        error = error or _lab_error(failed)
    finally:
        overrun.cancel()
        failure.remove_done_callback(world_failed)
        late = await schedule.finish()
    if late is not None:
        error = error or _lab_error(late)
    integrity: Integrity | None = None
    if plan.integrity and error is None and not schedule.calls.unmet:
        try:
            integrity = await read_integrity(plan, world, recorder, progress, schedule.calls.sent)
        except WorldError as failed:
            error = _lab_error(failed)
    return _story(plan, world, recorder, schedule, integrity, error)


def _lab_error(failed: SubjectError | WorldError) -> LabError:
    return LabError(
        code=str(failed.code), text=str(failed), blame="subject" if isinstance(failed, SubjectError) else "lab"
    )


def _story(
    plan: RunPlan,
    world: World,
    recorder: Recorder,
    schedule: Schedule,
    integrity: Integrity | None,
    error: LabError | None,
) -> Story:
    calls = schedule.calls
    lags_s = calls.lags_s
    return Story(
        run_id=plan.run_id,
        attempt=plan.attempt,
        origin_ns=recorder.origin_ns,
        ready_s=None if calls.ready_ns is None else recorder.since_origin(calls.ready_ns) / 1e9,
        ended_ns=recorder.since_origin(world.now_ns()),
        operations=with_write_status(calls.stories(), integrity),
        faults=schedule.faults.stories(),
        events=recorder.events(),
        noise=Noise(
            loop_lag_p99_s=p99(lags_s) if lags_s else 0.0,
            loop_lag_max_s=max(lags_s, default=0.0),
            samples=len(lags_s),
            delays=recorder.delays(),
        ),
        kernel=world.kernel,
        error=error,
        integrity=integrity,
    )
