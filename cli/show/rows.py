"""Rows of cases: what a reader looks for on the left, figures on the right; what does not fit goes below.

Where the columns allow it a case has one line. In fewer, a scenario with several cases has its name once, and a line
for each case below it. The rows that appear while a suite runs and those of the closing table have the same columns.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.cells import cell_len
from rich.text import Text

from cli.show import groups
from cli.show.cases import CaseRecords, ExpectationSummary, case_parameters, client_text
from cli.show.formatting import (
    VERDICT_LABELS,
    VERDICT_STYLES,
    WIDTH,
    case_label,
    expectation_verdict,
    labelled,
    measured,
    off_by,
    predicted,
)
from harness.records.case_key import CaseKey
from harness.records.group import GroupRecord
from harness.records.run import Verdict

OFF = 7
"""Columns of `+3.850`."""
GAP = 2
"""Spaces between a name and its figures, at least."""
STREAMED = VERDICT_LABELS["pass"], VERDICT_LABELS["fail"]
"""What the verdicts' column has room for while rows appear: the rare longer word pushes its row."""


class CaseRows:
    """Rows one below the other, of these cases. `words` are the verdicts that the first column has room for.

    `width` is what the rows need of the columns that there are, and never less than 80: figures far away from their
    names are hard to follow.
    """

    def __init__(self, cases: Iterable[CaseKey], *, words: Iterable[str] = STREAMED, width: int = WIDTH) -> None:
        keys = set(cases)
        several = Counter(key.scenario for key in keys)
        self._several = frozenset(name for name, number in several.items() if number > 1)
        self._words = max(map(len, words), default=0) + 2
        figures = GAP + cell_len(columns("", "", ""))
        needed = self._words + max((cell_len(_one_line(key)) for key in keys), default=0) + figures
        self._in_one_line = needed <= width
        self.width = min(max(needed, WIDTH), width)
        self._above: tuple[str, str] | None = None

    @property
    def head(self) -> Text:
        """The names of the columns."""
        titles = right_aligned(
            "scenario  client", columns("expected", "measured", "runs"), lead=self._words, width=self.width
        )
        return Text(" " * self._words + titles, style="dim")

    @property
    def reasons_lead(self) -> str:
        """What stands on the left of a line that belongs to the case above."""
        return " " * (self._words + 2)

    def more(self, passed: int) -> Text:
        """Cases that passed and are not shown."""
        return Text(f"{VERDICT_LABELS['pass'].ljust(self._words)}{passed} more (--all)", style="green")

    def finished_row(self, case: CaseRecords, *, judged_together: bool) -> Text:
        """The row that appears when the last repeat of a case has ended; `judged_together`: its verdict comes later."""
        if judged_together and case.verdict == "pass":
            return self._row(case, f"{len(case.runs)} runs, judged together", word="ran", style="dim")
        return self.row(case)

    def table_rows(self, case: CaseRecords, *, every: bool) -> Iterator[Text]:
        """The rows of the closing table: the case with what stands for it, or with `every` expectation in a row of its
        own where there are several."""
        alone, together = case.expectations(), case.shared_expectations()
        if not every or len(alone) + len(together) <= 1:
            yield self.row(case)
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
        left = labelled(name, of, room=self.width - len(word) - len(f":{line} ") - len(figures) - GAP)
        return Text(word, style=VERDICT_STYLES[verdict]).append(
            right_aligned(f":{line} {left}", figures, lead=len(word), width=self.width), style="default"
        )

    def row(self, case: CaseRecords) -> Text:
        """The case in one row: with what fails it worst, else with what stands for it."""
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
        label = word or case_label(case)
        word = f"{label}  ".ljust(self._words)
        name = f"{case.first.scenario}  {case.client}"
        text = Text(word, style=style or VERDICT_STYLES[case.verdict])
        if self._in_one_line or not case.parameters or case.first.scenario not in self._several:
            self._above = None
            left = f"{name}  {case.parameters}".rstrip() if self._in_one_line else name
            return text.append(right_aligned(left, right, lead=len(word), width=self.width), style="default")
        lead = self._words + 2
        below = " " * lead + right_aligned(case.parameters, right, lead=lead, width=self.width)
        if self._above == (label, name):
            return Text(below)
        self._above = (label, name)
        return text.append(f"{name}\n{below}", style="default")


def _one_line(key: CaseKey) -> str:
    return f"{key.scenario}  {client_text(key)}  {case_parameters(key)}".rstrip()


def right_aligned(left: str, right: str, *, lead: int, width: int = WIDTH) -> str:
    """`left` and, at the right edge, `right`: on a line of its own where both do not fit behind `lead` columns."""
    gap = width - lead - cell_len(left) - cell_len(right)
    return f"{left}{' ' * gap}{right}".rstrip() if gap >= GAP else f"{left}\n{right.rjust(width)}".rstrip()


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
