"""Which runs of an interrupted suite are still to be made, and which run a replay selects."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.plan import RunPlan
from harness.records.reader import Results
from harness.records.run import RunRecord
from harness.suite.runner import MAX_ATTEMPTS


class CannotResume(Exception):
    """The suite cannot be continued as it was: `problem` says why, `remedy` what to do."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}")
        self.problem = problem
        self.remedy = remedy


class Remaining(NamedTuple):
    """What is still to be made: runs that nothing is known of, and those that were too noisy to judge."""

    unknown: tuple[RunPlan, ...]
    noisy: tuple[RunPlan, ...] = ()


def remaining(results: Results, plans: Sequence[RunPlan]) -> Remaining:
    """The manifest's runs without a record, those that the lab itself lost, and those whose last try was too noisy and
    may be made again. A run that was made before gets its next try.

    `plans` are made anew from the manifest's arguments. Raises CannotResume where a run of the manifest is not among
    them: its scenario was changed since, and the results would not belong together.
    """
    kept = {run.run_id: run for run in results.runs}
    unknown, noisy = list[RunPlan](), list[RunPlan]()
    for plan in planned(results, plans):
        record = kept.get(plan.run_id)
        if record is None:
            unknown.append(plan)
        elif _lost_by_the_lab(record):
            unknown.append(replace(plan, attempt=record.attempt + 1))
        elif record.noisy and record.attempt < MAX_ATTEMPTS:
            noisy.append(replace(plan, attempt=record.attempt + 1))
    return Remaining(tuple(unknown), tuple(noisy))


def _lost_by_the_lab(record: RunRecord) -> bool:
    return record.verdict == "lab_error" and record.error is not None and record.error.blame == "lab"


def planned(results: Results, plans: Sequence[RunPlan]) -> tuple[RunPlan, ...]:
    """The plans of the manifest's runs, in its order. Raises CannotResume where one of them no longer exists."""
    now = {plan.run_id: plan for plan in plans}
    ids = results.manifest.run_ids
    gone = [run_id for run_id in ids if run_id not in now]
    if gone:
        names = {run.scenario for run in results.runs if run.run_id in gone}
        names |= {plan.scenario for run_id, plan in now.items() if run_id not in ids}
        raise CannotResume(
            f"{', '.join(sorted(names)) or 'a scenario'} changed since {results.folder.path} was begun: "
            f"{len(gone)} of its {len(ids)} runs are no more",
            "undo the change, or run it again into another folder",
        )
    return tuple(now[run_id] for run_id in ids)


def plans_with_id_prefix(plans: Sequence[RunPlan], prefix: str) -> tuple[RunPlan, ...]:
    """The plans whose run_id begins so."""
    return tuple(plan for plan in plans if plan.run_id.startswith(prefix.lower()))


def short_id(run_id: str, all_ids: Sequence[str]) -> str:
    """The shortest beginning of `run_id`, of at least 4 digits, that no other one has."""
    for length in range(4, len(run_id)):
        if sum(other.startswith(run_id[:length]) for other in set(all_ids)) == 1:
            return run_id[:length]
    return run_id
