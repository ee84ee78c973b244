"""Rows of 80 columns: what a reader looks for on the left, figures on the right; what does not fit goes below.

A scenario with several cases has its name once, and a line for each case below it.
"""

from rich.cells import cell_len
from rich.text import Text

from cli.show import groups
from cli.show.cases import Case
from cli.show.figures import COLOURS, WIDTH, WORDS, measured, predicted, relation
from harness.records.run import Verdict


class Rows:
    """Rows one below the other. `words` is the width of the verdicts' column; `several` names the scenarios that have
    more than one case."""

    def __init__(self, *, words: int, several: frozenset[str]) -> None:
        self._words = words
        self._several = several
        self._above: tuple[Verdict, str] | None = None

    def finished(self, case: Case) -> Text:
        """The row that appears when the last repeat of a case has ended."""
        right = tally(case)
        finding = case.leading()
        if finding is not None:
            right = f"{measured(finding)}  {relation(finding):<9}  {right}"
        return self._row(case, right)

    def tabled(self, case: Case) -> Text:
        """The row of the closing table: predicted and measured below each other's heads."""
        group = case.leading_group
        if group is not None:
            figures = columns(groups.predicted(group), groups.estimate(group), tally(case))
            return self._row(case, f"{groups.word(group)} {figures.lstrip()}")
        finding = case.leading()
        if finding is None:
            return self._row(case, columns("", "", tally(case)))
        right = columns(predicted(finding.judged), measured(finding), tally(case))
        if finding.judged.unit == "count":  # a bare number does not say what it counts
            right = f"{finding.judged.measure.rpartition('.')[2]} {right.lstrip()}"
        return self._row(case, right)

    def _row(self, case: Case, right: str) -> Text:
        word = f"{WORDS[case.verdict]}  ".ljust(self._words)
        name = f"{case.first.scenario}  {case.client}"
        text = Text(word, style=COLOURS[case.verdict])
        if case.first.scenario not in self._several:
            self._above = None
            return text.append(beside(name, right, lead=len(word)), style="default")
        lead = self._words + 2
        below = " " * lead + beside(case.parameters, right, lead=lead)
        if self._above == (case.verdict, name):
            return Text(below)
        self._above = (case.verdict, name)
        return text.append(f"{name}\n{below}", style="default")


def beside(left: str, right: str, *, lead: int) -> str:
    """`left` and, at the right edge, `right`: on a line of its own where both do not fit behind `lead` columns."""
    gap = WIDTH - lead - cell_len(left) - cell_len(right)
    return f"{left}{' ' * gap}{right}".rstrip() if gap >= 2 else f"{left}\n{right.rjust(WIDTH)}".rstrip()


def columns(predicted_text: str, measured_text: str, rest: str) -> str:
    """The three right-hand columns of the closing table."""
    return f"{predicted_text:>9}  {measured_text:>9}  {rest:>4}"


def tally(case: Case) -> str:
    """`3/3`: so many of the repeats passed."""
    return f"{case.passed}/{len(case.runs)}"


def folded(text: str, *, lead: str, style: str = "") -> Text:
    """Sentences between `lead` (on the first line; below it as many spaces) and the right edge, cut at spaces."""
    room = WIDTH - cell_len(lead)
    lines = [""]
    for word in text.split():
        if lines[-1] and cell_len(lines[-1]) + 1 + cell_len(word) > room:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return Text(lead + ("\n" + " " * cell_len(lead)).join(lines), style=style)
