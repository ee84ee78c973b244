"""A suite on a CI system's page of its job: the verdict, and a table of its cases, worst first."""

from collections.abc import Callable, Iterator, Sequence

from cli.exit_codes import EXIT_CODES_WORST_FIRST
from cli.show import groups
from cli.show.cases import CaseRecords
from cli.show.formatting import VERDICT_LABELS, measured, pluralized, predicted
from cli.show.markdown import code, plain, table
from cli.show.rows import passed_of_total

COLUMNS = ("verdict", "scenario", "client", "measure", "predicted", "measured", "passed", "again")
MAX_PASSED_ROWS = 200
"""So many cases that passed are listed: a reader looks for the others."""


def job_summary(
    cases: Sequence[CaseRecords], *, head: str, sentence: str, facts: str, replay: Callable[[CaseRecords], str]
) -> str:
    """`head` is the verdict in a word or two, `sentence` its figures, `facts` where and how it was measured."""
    trouble = worst_first(cases)
    passed = [case for case in cases if case.verdict == "pass"]
    parts = [f"### faultlab: {plain(head)}", f"{plain(sentence)}  \n{plain(facts)}"]
    if cases:
        rows = [*(_row(case, replay) for case in trouble), *(_row(case, replay) for case in passed[:MAX_PASSED_ROWS])]
        parts.append(table(COLUMNS, rows))
    if len(passed) > MAX_PASSED_ROWS:
        parts.append(f"and {pluralized(len(passed) - MAX_PASSED_ROWS, 'more case')} that passed")
    reasons = list(_reasons(trouble))
    if reasons:
        parts.append("\n".join(reasons))
    return "\n\n".join(parts) + "\n"


def worst_first(cases: Sequence[CaseRecords]) -> list[CaseRecords]:
    """Those that did not pass."""
    order = [verdict for verdict, _ in EXIT_CODES_WORST_FIRST]
    return sorted((c for c in cases if c.verdict != "pass"), key=lambda case: order.index(case.verdict))


def _row(case: CaseRecords, replay: Callable[[CaseRecords], str]) -> tuple[str, ...]:
    word = VERDICT_LABELS[case.verdict]
    scenario = (
        f"{plain(case.first.scenario)}<br>{plain(case.parameters)}" if case.parameters else plain(case.first.scenario)
    )
    again = "" if case.verdict == "pass" else code(replay(case))
    return (
        word if case.verdict == "pass" else f"**{word}**",
        scenario,
        plain(case.client),
        *(plain(text) for text in _figures(case)),
        passed_of_total(case),
        again,
    )


def _figures(case: CaseRecords) -> tuple[str, str, str]:
    """What stands for the case, as in the closing table: its measure, predicted, measured."""
    group = case.leading_group
    if group is not None:
        return groups.called(group), groups.predicted(group), groups.estimate(group)
    finding = case.leading()
    if finding is None:
        return "", "", ""
    return finding.judged.measure, predicted(finding.judged), measured(finding)


def _reasons(trouble: Sequence[CaseRecords]) -> Iterator[str]:
    """The first reason of each case in which no expectation says what is wrong."""
    for case in trouble:
        if case.verdict != "fail":
            reasons = [reason for run in case.runs if run.verdict != "pass" for reason in run.reasons]
            reasons += [group.reason for group in case.groups if group.verdict == "inconclusive" and group.reason]
            if reasons:
                yield f"- {plain(case.first.scenario)}: {plain(reasons[0])}"
