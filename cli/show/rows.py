"""Rows of 80 columns: what a reader looks for on the left, figures on the right; what does not fit goes below.

A scenario with several cases has its name once, and a line for each case below it.
"""

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from cli.show import groups
from cli.show.cases import CaseRecords, ExpectationSummary
from cli.show.formatting import (
    VERDICT_LABELS,
    VERDICT_STYLES,
    WIDTH,
    expectation_verdict,
    format_comparison,
    labelled,
    measured,
    off_by,
    predicted,
)
from harness.records.group import GroupRecord
from harness.records.run import Verdict

OFF = 7
"""Columns of `+3.850`."""


class CaseRows:
    """Rows one below the other. `words` is the width of the verdicts' column; `multi_case_scenarios` names the
    scenarios that have more than one case."""

    def __init__(self, *, words: int, multi_case_scenarios: frozenset[str]) -> None:
        self._words = words
        self._multi_case_scenarios = multi_case_scenarios
        self._above: tuple[Verdict, str] | None = None

    def finished_row(self, case: CaseRecords, *, judged_together: bool) -> Text:
        """The row that appears when the last repeat of a case has ended; `judged_together`: its verdict comes later."""
        if judged_together and case.verdict == "pass":
            return self._row(case, f"{len(case.runs)} runs, judged together", word="ran", style="dim")
        right = passed_of_total(case)
        finding = case.leading()
        if finding is not None:
            right = f"{measured(finding)}  {format_comparison(finding):<9}  {right}"
        return self._row(case, right)

    def table_rows(self, case: CaseRecords, *, every: bool) -> Iterator[Text]:
        """The rows of the closing table: the case with what stands for it, or with `every` expectation in a row of its
        own where there are several."""
        alone, together = case.expectations(), case.shared_expectations()
        if not every or len(alone) + len(together) <= 1:
            yield self._table_row(case)
            return
        yield self._row(case, columns("", "", passed_of_total(case)))
        rows = [(group.verdict != "fail", self._group_row(group)) for group in together]
        rows += [(not finding.judged.fails_run, self._expectation_row(finding)) for finding in alone]
        yield from (row for _, row in sorted(rows, key=lambda row: row[0]))

    def _expectation_row(self, finding: ExpectationSummary) -> Text:
        judged = finding.judged
        off = f"{off_by(finding).removesuffix(' s'):>{OFF}}"
        return self._line(
            expectation_verdict(judged), judged.line, judged.name, judged.measure,
            columns(predicted(judged), measured(finding), off),
        )  # fmt: skip

    def _group_row(self, group: GroupRecord) -> Text:
        figures = columns(groups.predicted(group), groups.estimate(group), " " * OFF)
        return self._line(group.verdict, group.line, group.name, groups.called(group), figures)

    def _line(self, verdict: Verdict, line: int, name: str, of: str, figures: str) -> Text:
        word = f"{'':<{self._words + 2}}{VERDICT_LABELS[verdict]:<4} "
        left = labelled(name, of, room=WIDTH - len(word) - len(f":{line} ") - len(figures) - 2)
        return Text(word, style=VERDICT_STYLES[verdict]).append(
            right_aligned(f":{line} {left}", figures, lead=len(word)), style="default"
        )

    def _table_row(self, case: CaseRecords) -> Text:
        group = case.leading_group
        if group is not None:
            figures = columns(groups.predicted(group), groups.estimate(group), passed_of_total(case))
            return self._row(case, f"{groups.word(group)} {figures.lstrip()}")
        finding = case.leading()
        if finding is None:
            return self._row(case, columns("", "", passed_of_total(case)))
        right = columns(predicted(finding.judged), measured(finding), passed_of_total(case))
        if finding.judged.unit == "count":  # a bare number does not say what it counts
            right = f"{finding.judged.measure.partition('.')[2]} {right.lstrip()}"
        return self._row(case, right)

    def _row(self, case: CaseRecords, right: str, *, word: str | None = None, style: str | None = None) -> Text:
        word = f"{word or VERDICT_LABELS[case.verdict]}  ".ljust(self._words)
        name = f"{case.first.scenario}  {case.client}"
        text = Text(word, style=style or VERDICT_STYLES[case.verdict])
        if case.first.scenario not in self._multi_case_scenarios:
            self._above = None
            return text.append(right_aligned(name, right, lead=len(word)), style="default")
        lead = self._words + 2
        below = " " * lead + right_aligned(case.parameters, right, lead=lead)
        if self._above == (case.verdict, name):
            return Text(below)
        self._above = (case.verdict, name)
        return text.append(f"{name}\n{below}", style="default")


def right_aligned(left: str, right: str, *, lead: int, width: int = WIDTH) -> str:
    """`left` and, at the right edge, `right`: on a line of its own where both do not fit behind `lead` columns."""
    gap = width - lead - cell_len(left) - cell_len(right)
    return f"{left}{' ' * gap}{right}".rstrip() if gap >= 2 else f"{left}\n{right.rjust(width)}".rstrip()


def columns(predicted_text: str, measured_text: str, rest: str) -> str:
    """The three right-hand columns of the closing table."""
    return f"{predicted_text:>9}  {measured_text:>9}  {rest:>4}"


def passed_of_total(case: CaseRecords) -> str:
    """`3/3`: so many of the repeats passed; `16 runs` where passing alone says nothing of the case."""
    if case.falls_short_together and case.passed == len(case.runs):
        return f"{len(case.runs)} runs"
    return f"{case.passed}/{len(case.runs)}"


def wrapped(text: str, *, lead: str, style: str = "", width: int = WIDTH) -> Text:
    """Sentences between `lead` (on the first line; below it as many spaces) and the right edge, cut at spaces."""
    room = width - cell_len(lead)
    lines = [""]
    for word in text.split():
        if lines[-1] and cell_len(lines[-1]) + 1 + cell_len(word) > room:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return Text(lead + ("\n" + " " * cell_len(lead)).join(lines), style=style)
