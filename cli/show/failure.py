"""One failed case in detail: what was expected, what came, where the time went, and how to run it again."""

from collections.abc import Iterator

from rich.text import Text

from cli.show import groups
from cli.show.cases import CaseRecords, ExpectationSummary
from cli.show.formatting import VERDICT_LABELS, VERDICT_STYLES, WIDTH, measured, predicted, tolerance
from cli.show.rows import wrapped
from cli.show.strip import strip
from harness.judging import Breakdown, BreakdownRow
from harness.records.group import GroupRecord

NAME = 24
"""Columns of the terms' names."""


def failure(
    case: CaseRecords, finding: ExpectationSummary, breakdown: Breakdown | None, *, replay: str
) -> Iterator[Text]:
    """The block of one failed expectation of a case. `breakdown` is None where the waits are not known."""
    judged, run = finding.judged, case.most_severe
    yield _head(case, finding)
    if case.parameters:
        yield wrapped(case.parameters, lead="  with       ", style="dim")
    if judged.kind == "claim":
        declared = str(judged.declared_holds).lower()
        yield wrapped(f"claim {judged.outcome}, declared `holds: {declared}`: {judged.formula}", lead="  ")
    figures = f"  expected   {predicted(judged)}{tolerance(judged)}   measured {measured(finding)}"
    repeats = " ".join(f"{value:.3f}" if judged.unit == "s" else f"{value:g}" for value in finding.measured_values)
    if len(finding.measured_values) > 1:
        figures += f"   runs {repeats}" if len(figures) + 8 + len(repeats) <= WIDTH else f"\n  runs       {repeats}"
    yield Text(figures)
    error = next((o.error for o in run.operations if o.alias == judged.measure.partition(".")[0] and o.error), None)
    if error:
        yield wrapped(error, lead="  error      ")
    if breakdown is not None:
        yield Text()
        yield from time_breakdown(breakdown)
    else:
        yield wrapped(f"{judged.formula}", lead="  formula    ")
    yield _command(replay)


def group_failure(case: CaseRecords, group: GroupRecord, *, replay: str) -> Iterator[Text]:
    """The block of what all repeats of a case fail together."""
    text = Text("FAIL", style="bold red").append(f"  {group.scenario}  {case.client}", style="default")
    yield text.append(f"\n      {group.path}:{group.line}", style="default")
    if case.parameters:
        yield wrapped(case.parameters, lead="  with       ", style="dim")
    yield wrapped(f"{groups.called(group)}, {group.measured} of {group.runs} runs", lead="  over runs  ")
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


def time_breakdown(breakdown: Breakdown) -> Iterator[Text]:
    """The table of terms, the strip of waits, and the settings that were never waited on."""
    width = min(NAME, max([len(row.text) for row in breakdown.rows] + [len("no term")]))
    yield Text(_line("", width, "formula", "measured", "difference"), style="dim")
    for row in breakdown.rows:
        yield Text(_line(row.text, width, _predicted(row), _measured(row), _difference(row)))
    rest_s = breakdown.unattributed_s
    yield Text(_line("no term", width, "", f"{rest_s:.3f}", f"{rest_s:+8.3f}"))
    yield Text()
    yield from strip(breakdown)
    if breakdown.never_waited_on:
        yield wrapped(", ".join(breakdown.never_waited_on), lead="  never waited on  ")


def _command(replay: str) -> Text:
    """Whole on one line, however long: it is there to be copied."""
    return Text(f"  replay     {replay}")


def _head(case: CaseRecords, finding: ExpectationSummary) -> Text:
    run, judged = case.first, finding.judged
    where = f"{run.path}:{judged.line}"
    text = Text("FAIL", style="bold red").append(f"  {run.scenario}  {judged.measure}", style="default")
    if text.cell_len + 3 + len(where) <= WIDTH:
        return text.append(f"   {where}", style="default")
    return text.append(f"\n      {where}", style="default")


def _line(name: str, width: int, predicted_text: str, measured_text: str, difference: str) -> str:
    """A line of the table. Of a name that is too long, its end is what tells it from others."""
    shown = name if len(name) <= width else f"…{name[len(name) - width + 1 :]}"
    return f"  {shown:<{width}}  {predicted_text:>15}  {measured_text:>13}  {difference}".rstrip()


def _predicted(row: BreakdownRow) -> str:
    if row.predicted_count is None or row.each_s is None:
        return f"{row.predicted_s:.3f}" if row.predicted_s else "-"
    return f"{row.predicted_count:g} x {row.each_s:.3f} {row.predicted_s:>6.3f}"


def _measured(row: BreakdownRow) -> str:
    return "" if row.setting is None else f"{row.measured_count} x {row.measured_s:>7.3f}"


def _difference(row: BreakdownRow) -> str:
    return "" if row.setting is None else f"{row.difference_s:+8.3f}  {row.note}"
