"""A suite on a CI system's page of its job: the verdict, and a table of its cases, worst first."""

from collections.abc import Callable, Iterator, Sequence

from cli.show import groups
from cli.show.cases import CaseRecords, ExpectationSummary, worst_first
from cli.show.formatting import (
    VERDICT_LABELS,
    case_label,
    expectation_label,
    expectation_verdict,
    measured,
    off_by,
    pluralized,
    predicted,
    tolerance,
    written,
)
from cli.show.markdown import code, plain, table
from cli.show.rows import passed_of_total
from harness.records.bounds import bound_text
from harness.records.group import GroupRecord
from harness.records.run import Verdict

COLUMNS = (
    "verdict", "scenario", "client", "expectation", "bound", "expected", "measured", "off by", "passed", "again",
)  # fmt: skip
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
        rows = [row for case in (*trouble, *passed[:MAX_PASSED_ROWS]) for row in _rows(case, replay)]
        parts.append(table(COLUMNS, rows))
    if len(passed) > MAX_PASSED_ROWS:
        parts.append(f"and {pluralized(len(passed) - MAX_PASSED_ROWS, 'more case')} that passed")
    reasons = list(_reasons(trouble))
    if reasons:
        parts.append("\n".join(reasons))
    return "\n\n".join(parts) + "\n"


def _rows(case: CaseRecords, replay: Callable[[CaseRecords], str]) -> Iterator[tuple[str, ...]]:
    """Every expectation of a case that did not pass, the violated first; of one that passed what stands for it."""
    passed, group, leading = case.verdict == "pass", case.leading_group, case.leading()
    shared = case.shared_expectations() if not passed else (group,) if group is not None else ()
    alone = case.expectations() if not passed else (leading,) if leading is not None and group is None else ()
    found: list[tuple[Verdict, tuple[str, ...]]] = [(one.verdict, _group_figures(one)) for one in shared]
    found += [(expectation_verdict(one.judged), _figures(case, one)) for one in alone]
    found.sort(key=lambda row: row[0] != "fail")
    parameters = f"<br>{plain(case.parameters)}" if case.parameters else ""
    again = "" if passed else code(replay(case))
    rows = [(VERDICT_LABELS[verdict], figures) for verdict, figures in found]
    for word, figures in rows or [(case_label(case), ("",) * 5)]:
        yield (
            word if word == VERDICT_LABELS["pass"] else f"**{word}**",
            f"{plain(case.first.scenario)}{parameters}",
            plain(case.client),
            *figures,
            passed_of_total(case),
            again,
        )


def _figures(case: CaseRecords, finding: ExpectationSummary) -> tuple[str, ...]:
    judged = finding.judged
    where = plain(f"{case.first.path}:{judged.line}")
    return (
        f"{plain(expectation_label(judged))}<br>{where}",
        code(written(judged)),
        plain(f"{predicted(judged)}{tolerance(judged)}"),
        plain(measured(finding)),
        plain(off_by(finding)),
    )


def _group_figures(group: GroupRecord) -> tuple[str, ...]:
    where = plain(f"{group.path}:{group.line}")
    return (
        f"{plain(groups.called(group))}<br>{where}",
        code(bound_text(group.kind, group.formula, group.bound)),
        plain(f"{groups.predicted(group)}{groups.tolerance(group)}"),
        plain(groups.estimate(group)),
        "",
    )


def _reasons(trouble: Sequence[CaseRecords]) -> Iterator[str]:
    """The first reason of each case in which no expectation says what is wrong."""
    for case in trouble:
        if case.verdict != "fail":
            reasons = [reason for run in case.runs if run.verdict != "pass" for reason in run.reasons]
            reasons += [group.reason for group in case.groups if group.verdict == "inconclusive" and group.reason]
            if reasons:
                yield f"- {plain(case.first.scenario)}: {plain(reasons[0])}"
