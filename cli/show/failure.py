"""One failed case in detail: what was expected, what came, where the time went, and how to run it again; then a line
for each other case that failed in the same way."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from cli.show import groups
from cli.show.breakdown import time_breakdown
from cli.show.cases import CaseRecords, ExpectationSummary
from cli.show.formatting import (
    VERDICT_LABELS,
    VERDICT_STYLES,
    WIDTH,
    case_label,
    expectation_label,
    expectation_verdict,
    labelled,
    measured,
    off_by,
    pluralized,
    predicted,
    tolerance,
    written,
)
from cli.show.rows import GAP, right_aligned, wrapped
from harness.judging import Breakdown
from harness.records.bounds import bound_text
from harness.records.group import GroupRecord

MAX_OTHERS = 12
"""So many other cases that failed in the same way have a line without `--all`."""
INDENT = 4
BELOW = "\n      "
"""Before what the first line of a block has no room for."""
WHAT_FITS = ((0, 1, 2, 3), (0, 1, 2), (1, 2))
"""Of expected, measured, off by and the command: what a line of another case has room for."""


def failure(
    case: CaseRecords,
    breakdowns: Sequence[tuple[ExpectationSummary, Breakdown]],
    *,
    replay: str,
    width: int = WIDTH,
) -> Iterator[Text]:
    """The block of a case that failed: every expectation, the violated first, and where the time of `breakdowns` went:
    those among the violated whose waits are known."""
    expectations = case.expectations()
    for number, finding in enumerate(expectations):
        yield from _expectation(case, finding, width)
        if number == 0:
            yield _with(case, width)
    violated = dict.fromkeys(f.judged.measure.partition(".")[0] for f in expectations if f.judged.fails_run)
    for alias in violated:
        error = next((o.error for o in case.most_severe.operations if o.alias == alias and o.error), None)
        if error:
            yield wrapped(error, lead="  error      ", width=width)
    for finding, breakdown in breakdowns:
        yield Text()
        if len(breakdowns) > 1:
            yield wrapped(finding.judged.measure, lead="  ", style="dim", width=width)
        yield from time_breakdown(breakdown, width=width)
    yield _command(replay)


def other_cases(
    worst: CaseRecords, others: Sequence[CaseRecords], replays: Sequence[str], *, show_all: bool, width: int
) -> Iterator[Text]:
    """A line for each other case, with what was measured of the expectation that the worst case is farthest off, and
    the commands of `replays` where there is room for them."""
    if not others:
        return
    yield Text(f"  also failed in {pluralized(len(others), 'other case')}:")
    shown = list(zip(others, replays, strict=True))[: None if show_all else MAX_OTHERS]
    names = [_name_beside(worst, case) for case, _ in shown]
    rows = [(*_figures_of(worst, case), replay) for case, (_, replay) in zip(others, shown, strict=False)]
    left = INDENT + max(map(cell_len, names))
    kept = next((kept for kept in WHAT_FITS if left + _width_of(rows, kept) <= width), WHAT_FITS[-1])
    edge = min(left + _width_of(rows, kept), width)
    for name, row in zip(names, rows, strict=True):
        right = "  ".join(f"{row[n]:>{_column_width(rows, n)}}" for n in kept)
        yield Text(" " * INDENT + right_aligned(name, right, lead=INDENT, width=edge))
    if len(others) > len(shown):
        yield Text(f"{' ' * INDENT}{len(others) - len(shown)} more (--all)")


def _width_of(rows: Sequence[Sequence[str]], kept: Sequence[int]) -> int:
    return sum(GAP + _column_width(rows, n) for n in kept)


def _column_width(rows: Sequence[Sequence[str]], n: int) -> int:
    return max(cell_len(row[n]) for row in rows)


def _name_beside(worst: CaseRecords, case: CaseRecords) -> str:
    """What tells a case from the worst one: always its client and parameters, its scenario where that is another."""
    scenario = case.first.scenario if case.first.scenario != worst.first.scenario else ""
    return "  ".join(part for part in (scenario, case.client, case.parameters) if part)


def _figures_of(worst: CaseRecords, case: CaseRecords) -> tuple[str, str, str]:
    """`8.000 s`, `13.600 s`, `+5.600`: what was expected, measured, and how far off that is, of the expectation that
    leads the worst case."""
    leading = next((one.judged for one in worst.expectations() if one.judged.fails_run), None)
    if leading is not None:
        place = leading.line, leading.measure
        same = (one for one in case.expectations() if (one.judged.line, one.judged.measure) == place)
        found = ((predicted(one.judged), measured(one), off_by(one).removesuffix(" s")) for one in same)
        return next(found, ("", "", ""))
    group = next((one for one in case.groups if one.verdict == "fail"), None)
    return ("", "", "") if group is None else (groups.predicted(group), groups.estimate(group), "")


def _expectation(case: CaseRecords, finding: ExpectationSummary, width: int) -> Iterator[Text]:
    """An expectation: its place, its bound as written and in figures, what was measured, and how far off that is."""
    judged = finding.judged
    yield _head(case, finding, width)
    if judged.kind == "claim":
        declared = str(judged.declared_holds).lower()
        yield wrapped(f"claim {judged.outcome}, declared `holds: {declared}`: {judged.formula}", lead="  ", width=width)
    else:
        yield wrapped(written(judged), lead="  ", width=width)
    off = off_by(finding)
    figures = f"  expected   {predicted(judged)}{tolerance(judged)}   measured {measured(finding)}"
    figures += f"   {off}" if off else ""
    repeats = " ".join(f"{value:.3f}" if judged.unit == "s" else f"{value:g}" for value in finding.measured_values)
    if judged.fails_run and len(finding.measured_values) > 1:
        figures += f"   runs {repeats}" if len(figures) + 8 + len(repeats) <= width else f"\n  runs       {repeats}"
    yield Text(figures)


def group_failure(case: CaseRecords, group: GroupRecord, *, replay: str, width: int = WIDTH) -> Iterator[Text]:
    """The block of what all repeats of a case fail together."""
    text = Text("FAIL", style="bold red").append(f"  {group.scenario}", style="default")
    yield text.append(f"{BELOW}{group.path}:{group.line}", style="default")
    yield _with(case, width)
    called = labelled(group.name, groups.called(group))
    yield wrapped(f"{called}, {group.measured} of {group.runs} runs", lead="  over runs  ", width=width)
    yield wrapped(bound_text(group.kind, group.formula, group.bound), lead="  ", width=width)
    if group.kind == "claim":
        declared = str(group.declared_holds).lower()
        yield wrapped(f"claim {group.outcome}, declared `holds: {declared}`", lead="  ", width=width)
    expected = f"{groups.predicted(group)}{groups.tolerance(group)}"
    yield Text(f"  expected   {expected}   measured {groups.estimate(group)}{groups.interval(group)}")
    if group.reason:
        yield wrapped(group.reason, lead="  ", width=width)
    yield wrapped(group.formula, lead="  formula    ", width=width)
    yield _command(replay)


def error_block(case: CaseRecords, *, replay: str, logs: str | None, width: int = WIDTH) -> Iterator[Text]:
    """The block of a case that the lab or the subject ended, or that failed without an expectation's fault."""
    run = case.most_severe
    yield Text(case_label(case), style=VERDICT_STYLES[case.verdict]).append(
        f"  {case.first.scenario}  {case.client}  {run.path}", style="default"
    )
    if case.parameters:
        yield wrapped(case.parameters, lead="  with       ", style="dim", width=width)
    for reason in run.reasons:
        yield wrapped(reason, lead="  ", width=width)
    if logs:
        yield wrapped(logs, lead="  logs       ", width=width)
    yield _command(replay)


def _with(case: CaseRecords, width: int) -> Text:
    """The case: its client, and what the matrix chose."""
    return wrapped(f"{case.client}  {case.parameters}", lead="  with       ", style="dim", width=width)


def _command(replay: str) -> Text:
    """Whole on one line, however long: it is there to be copied."""
    return Text(f"  replay     {replay}")


def _head(case: CaseRecords, finding: ExpectationSummary, width: int) -> Text:
    run, judged = case.first, finding.judged
    where = f"{run.path}:{judged.line}"
    verdict = expectation_verdict(judged)
    text = Text(f"{VERDICT_LABELS[verdict]:<4}", style=VERDICT_STYLES[verdict])
    text.append(f"  {run.scenario}", style="default")
    left = width - text.cell_len
    for gap, part in ((2, expectation_label(judged)), (3, where)):
        left -= gap + cell_len(part)
        text.append(f"{' ' * gap if left >= 0 else BELOW}{part}", style="default")
    return text
