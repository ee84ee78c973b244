"""What did not pass as annotations, each with the line of the scenario that expected it."""

from collections.abc import Iterator
from pathlib import Path

from cli.ci import Annotation
from cli.show import groups
from cli.show.cases import CaseRecords
from cli.show.formatting import expectation_label, measured, predicted, tolerance


def annotations(case: CaseRecords, *, replay: str) -> Iterator[Annotation]:
    """None of a case that passed. Where nothing was proven they are warnings, though the suite does not pass either."""
    path = Path(case.most_severe.path)
    lead = ", ".join(part for part in (case.first.scenario, case.client, case.parameters) if part)
    broken = list(_broken(case)) if case.verdict == "fail" else []
    for line, said in broken:
        yield Annotation(level="error", title="failed", message=f"{lead}: {said} ({replay})", file=path, line=line)
    if broken or case.verdict == "pass":
        return
    reason = next(_reasons(case), case.verdict)
    ended = "subject-error" if case.ended_by_subject else "lab-error"
    title = {"fail": "failed", "lab_error": ended}.get(case.verdict, case.verdict)
    yield Annotation(
        level="error" if case.verdict in ("fail", "lab_error") else "warning",
        title=title,
        message=f"{lead}: {reason} ({replay})",
        file=path,
        line=1,
    )


def _broken(case: CaseRecords) -> Iterator[tuple[int, str]]:
    """The line of each expectation that failed, and how."""
    for finding in case.expectations():
        judged = finding.judged
        if judged.fails_run:
            claim = f"claim {judged.formula} {judged.outcome}: " if judged.kind == "claim" else ""
            expected = f"expected {predicted(judged)}{tolerance(judged)}, measured {measured(finding)}"
            yield judged.line, f"{claim}{expectation_label(judged)} {expected}"
    for group in case.groups:
        if group.verdict == "fail":
            expected = f"expected {groups.predicted(group)}{groups.tolerance(group)}, measured {groups.estimate(group)}"
            yield group.line, f"{groups.called(group)} {expected} over {group.measured} runs"


def _reasons(case: CaseRecords) -> Iterator[str]:
    yield from (reason for run in case.runs if run.verdict != "pass" for reason in run.reasons)
    yield from (f"{groups.called(g)}: {g.reason}" for g in case.groups if g.verdict == "inconclusive" and g.reason)
