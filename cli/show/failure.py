"""One failed case in detail: what was expected, what came, where the time went, and how to run it again."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from cli.show import groups
from cli.show.breakdown import time_breakdown
from cli.show.cases import CaseRecords, ExpectationSummary
from cli.show.formatting import (
    VERDICT_LABELS,
    VERDICT_STYLES,
    WIDTH,
    expectation_label,
    expectation_verdict,
    labelled,
    measured,
    off_by,
    predicted,
    tolerance,
    written,
)
from cli.show.rows import wrapped
from harness.judging import Breakdown
from harness.records.bounds import bound_text
from harness.records.group import GroupRecord


def failure(
    case: CaseRecords, breakdowns: Sequence[tuple[ExpectationSummary, Breakdown]], *, replay: str
) -> Iterator[Text]:
    """The block of a case that failed: every expectation, the violated first, and where the time of `breakdowns` went:
    those among the violated whose waits are known."""
    expectations = case.expectations()
    for number, finding in enumerate(expectations):
        yield from _expectation(case, finding)
        if number == 0 and case.parameters:
            yield wrapped(case.parameters, lead="  with       ", style="dim")
    violated = dict.fromkeys(f.judged.measure.partition(".")[0] for f in expectations if f.judged.fails_run)
    for alias in violated:
        error = next((o.error for o in case.most_severe.operations if o.alias == alias and o.error), None)
        if error:
            yield wrapped(error, lead="  error      ")
    for finding, breakdown in breakdowns:
        yield Text()
        if len(breakdowns) > 1:
            yield wrapped(finding.judged.measure, lead="  ", style="dim")
        yield from time_breakdown(breakdown)
    yield _command(replay)


def _expectation(case: CaseRecords, finding: ExpectationSummary) -> Iterator[Text]:
    """An expectation: its place, its bound as written and in figures, what was measured, and how far off that is."""
    judged = finding.judged
    yield _head(case, finding)
    if judged.kind == "claim":
        declared = str(judged.declared_holds).lower()
        yield wrapped(f"claim {judged.outcome}, declared `holds: {declared}`: {judged.formula}", lead="  ")
    else:
        yield wrapped(written(judged), lead="  ")
    off = off_by(finding)
    figures = f"  expected   {predicted(judged)}{tolerance(judged)}   measured {measured(finding)}"
    figures += f"   {off}" if off else ""
    repeats = " ".join(f"{value:.3f}" if judged.unit == "s" else f"{value:g}" for value in finding.measured_values)
    if judged.fails_run and len(finding.measured_values) > 1:
        figures += f"   runs {repeats}" if len(figures) + 8 + len(repeats) <= WIDTH else f"\n  runs       {repeats}"
    yield Text(figures)


def group_failure(case: CaseRecords, group: GroupRecord, *, replay: str) -> Iterator[Text]:
    """The block of what all repeats of a case fail together."""
    text = Text("FAIL", style="bold red").append(f"  {group.scenario}  {case.client}", style="default")
    yield text.append(f"\n      {group.path}:{group.line}", style="default")
    if case.parameters:
        yield wrapped(case.parameters, lead="  with       ", style="dim")
    called = labelled(group.name, groups.called(group))
    yield wrapped(f"{called}, {group.measured} of {group.runs} runs", lead="  over runs  ")
    yield wrapped(bound_text(group.kind, group.formula, group.bound), lead="  ")
    if group.kind == "claim":
        declared = str(group.declared_holds).lower()
        yield wrapped(f"claim {group.outcome}, declared `holds: {declared}`", lead="  ")
    expected = f"{groups.predicted(group)}{groups.tolerance(group)}"
    yield Text(f"  expected   {expected}   measured {groups.estimate(group)}{groups.interval(group)}")
    if group.reason:
        yield wrapped(group.reason, lead="  ")
    yield wrapped(group.formula, lead="  formula    ")
    yield _command(replay)


def error_block(case: CaseRecords, *, replay: str, logs: str | None) -> Iterator[Text]:
    """The block of a case that the lab ended, or that failed without an expectation's fault."""
    run = case.most_severe
    yield Text(VERDICT_LABELS[case.verdict], style=VERDICT_STYLES[case.verdict]).append(
        f"  {case.first.scenario}  {case.client}  {run.path}", style="default"
    )
    if case.parameters:
        yield wrapped(case.parameters, lead="  with       ", style="dim")
    for reason in run.reasons:
        yield wrapped(reason, lead="  ")
    if logs:
        yield wrapped(logs, lead="  logs       ")
    yield _command(replay)


def _command(replay: str) -> Text:
    """Whole on one line, however long: it is there to be copied."""
    return Text(f"  replay     {replay}")


def _head(case: CaseRecords, finding: ExpectationSummary) -> Text:
    run, judged = case.first, finding.judged
    where = f"{run.path}:{judged.line}"
    verdict = expectation_verdict(judged)
    text = Text(f"{VERDICT_LABELS[verdict]:<4}", style=VERDICT_STYLES[verdict])
    text.append(f"  {run.scenario}  {expectation_label(judged)}", style="default")
    if text.cell_len + 3 + len(where) <= WIDTH:
        return text.append(f"   {where}", style="default")
    return text.append(f"\n      {where}", style="default")
