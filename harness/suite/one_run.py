"""One run from its plan to its record. Whatever schedules runs calls this: lanes of threads, processes, a cluster.

`carry_out` keeps nothing and looks at nothing but what it is given. It can be pickled, and so can its arguments where
the environment can.
"""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.environments.world import Environment, EnvironmentUnavailable, ProgressCallback, RunInterrupted
from harness.judging import Judgement
from harness.plan import RunPlan
from harness.records.run import RunRecord
from harness.story import LabError, Story, lost_story
from harness.suite.machine import wall_clock
from harness.suite.recording import event_lines, run_record

Judge = Callable[[RunPlan, Story], Judgement]

LogFolderMaker = Callable[[RunPlan], Path]
"""Makes the log folder of a try and names it."""

DETAILS = "internal-error.txt"


@dataclass(frozen=True, slots=True)
class RunResult:
    """What is kept of a run: its record, and its events as lines of events.jsonl."""

    record: RunRecord
    events: bytes


def ignore_progress(text: str) -> None:
    """For runs whose progress is not shown."""


def carry_out(
    plan: RunPlan,
    environment: Environment,
    judge: Judge,
    *,
    progress: ProgressCallback = ignore_progress,
    make_log_folder: LogFolderMaker | None = None,
) -> RunResult:
    """Run the plan in the environment and judge its story. An error of the lab itself becomes the run's lab error.

    `make_log_folder`: None keeps no logs. Raises RunInterrupted, and what `make_log_folder` and `judge` raise.
    """
    logs = None if make_log_folder is None or not environment.keeps_logs else make_log_folder(plan)
    started_at, started_s = wall_clock(), time.monotonic()
    try:
        story = environment.run(plan, progress, logs)
    except RunInterrupted:
        raise
    except Exception as error:  # noqa: BLE001  (recorded and counted: never lost, and never a pass)
        story = lost_story(plan.run_id, plan.attempt, _lab_error(plan, error, make_log_folder))
    judgement = judge(plan, story)
    record = run_record(plan, story, judgement, started_at=started_at, duration_s=time.monotonic() - started_s)
    return RunResult(record, event_lines(plan, story))


def _lab_error(plan: RunPlan, error: Exception, make_log_folder: LogFolderMaker | None) -> LabError:
    """What an environment raised, as the run's error; a traceback goes into the log folder."""
    if isinstance(error, EnvironmentUnavailable):
        return LabError(code="environment_unavailable", text=f"{error.reason}; {error.remedy}")
    text = f"faultlab itself failed ({type(error).__name__}: {error})"
    if make_log_folder is not None:
        details = make_log_folder(plan) / DETAILS
        details.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        text += f"; details in {details}"
    return LabError(code="internal_error", text=text)
