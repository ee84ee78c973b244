"""The story of a run in which the lab itself broke: so that it is recorded and counted, never lost and never a pass."""

import traceback
from pathlib import Path

from harness.environments.world import EnvironmentUnavailable
from harness.plan import RunPlan
from harness.story import Kernel, LabError, Noise, Story


def failed_story(plan: RunPlan, error: Exception, logs: Path) -> Story:
    """What is known of a run whose world raised `error`; its details go to a file in `logs`."""
    if isinstance(error, EnvironmentUnavailable):
        told = LabError(code="environment_unavailable", text=f"{error.reason}; {error.remedy}")
    else:
        details = logs / "internal-error.txt"
        details.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        told = LabError(
            code="internal_error",
            text=f"faultlab itself failed ({type(error).__name__}: {error}); details in {details}",
        )
    return Story(
        run_id=plan.run_id,
        attempt=plan.attempt,
        origin_ns=0,
        ready_s=None,
        ended_ns=0,
        operations=(),
        faults=(),
        events=(),
        noise=Noise(loop_lag_p99_s=0.0, loop_lag_max_s=0.0, samples=0),
        kernel=Kernel(release="unknown", hz=0),
        error=told,
    )
