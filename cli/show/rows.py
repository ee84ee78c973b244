"""Rows of 80 columns: what a reader looks for on the left, figures on the right; what does not fit goes below."""

from rich.text import Text

from cli.show.cases import Case
from cli.show.figures import COLOURS, WIDTH, WORDS, measured, predicted, relation
from harness.records.run import Verdict


def row(verdict: Verdict, left: str, right: str, below: str = "", *, words: int) -> Text:
    """One row. `words` is the width of the verdicts' column; `below` stands on a second line, with the figures."""
    word = WORDS[verdict].ljust(words)
    text = Text(word, style=COLOURS[verdict])
    if not below and len(word) + len(left) + 2 + len(right) <= WIDTH:
        text.append(left.ljust(WIDTH - len(word) - len(right)) + right, style="default")
        return text
    text.append(left, style="default")
    lead = " " * (words + 2)
    if len(lead) + len(below) + 2 + len(right) <= WIDTH:
        text.append("\n" + lead + below.ljust(WIDTH - len(lead) - len(right)) + right, style="default")
    else:
        text.append(f"\n{lead}{below}\n{right.rjust(WIDTH)}", style="default")
    return text


def finished(case: Case, *, parameters: bool, words: int) -> Text:
    """The row that appears when the last repeat of a case has ended."""
    right = tally(case)
    finding = case.leading()
    if finding is not None:
        right = f"{measured(finding)}  {relation(finding):<8}  {right}"
    return row(case.verdict, _left(case), right, case.parameters if parameters else "", words=words)


def tabled(case: Case, *, parameters: bool, words: int) -> Text:
    """The row of the closing table: predicted and measured below each other's heads."""
    finding = case.leading()
    right = columns("", "", tally(case))
    if finding is not None:
        right = columns(predicted(finding.judged), measured(finding), tally(case))
        name = finding.judged.measure.rpartition(".")[2]
        if finding.judged.unit == "count":  # a bare number does not say what it counts
            right = f"{name} {right.lstrip()}"
    return row(case.verdict, _left(case), right, case.parameters if parameters else "", words=words)


def columns(predicted_text: str, measured_text: str, rest: str) -> str:
    """The three right-hand columns of the closing table."""
    return f"{predicted_text:>10}  {measured_text:>10}  {rest:>4}"


def tally(case: Case) -> str:
    """`3/3`: so many of the repeats passed."""
    return f"{case.passed}/{len(case.runs)}"


def folded(text: str, *, lead: str, style: str = "") -> Text:
    """Sentences between `lead` (on the first line; below it as many spaces) and the right edge, cut at spaces."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lead) + len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return Text(lead + ("\n" + " " * len(lead)).join(lines), style=style)


def _left(case: Case) -> str:
    return f"{case.first.scenario}  {case.client}"
