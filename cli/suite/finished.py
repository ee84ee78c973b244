"""A suite that has ended, and the commands that run parts of it again."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Literal

from cli.exit_codes import ExitCode
from cli.show.cases import CaseRecords
from harness.plan import RunPlan
from harness.records.reader import Results
from harness.records.run import RunRecord
from harness.suite.resuming import short_id

DEFAULT_PARENT = Path("results")


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSuite:
    """A suite read back from its folder, and how it ended. `plans` by run id; `page`: the report, if it was made."""

    results: Results
    plans: Mapping[str, RunPlan]
    elapsed_s: float
    exit: ExitCode
    page: Path | None = None


def replay_of(run: RunRecord, finished: FinishedSuite) -> str:
    """The command that makes this run again."""
    return replay_command(run.run_id, finished.results)


def replay_of_case(case: CaseRecords, finished: FinishedSuite) -> str:
    """The command that shows again what is wrong with a case: all of its repeats, where only all of them show it."""
    of_one = case.most_severe.verdict == case.verdict
    return replay_command(case.most_severe.run_id, finished.results, scope="run" if of_one else "group")


def replay_command(run_id: str, results: Results, *, scope: Literal["run", "group"] = "run") -> str:
    """`faultlab replay 7f3a`."""
    folder = results.folder.path
    where = "" if folder.parent == DEFAULT_PARENT else f" --in {quote(str(folder))}"
    group = " --group" if scope == "group" else ""
    return f"faultlab replay {short_id(run_id, results.manifest.run_ids)}{group}{where}"
