"""The end of a suite: the table with what needs attention first, the claims, and the verdict last."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from cli.exits import GRAVEST_FIRST, Exit
from cli.show.cases import Case, Finding, counts
from cli.show.figures import WIDTH, WORDS, amount, many, measured, seconds
from cli.show.rows import columns, folded, tabled
from harness.records.run import RunRecord, Verdict

SHOWN_BESIDE_TROUBLE = 6
SHOWN_ALONE = 30
"""So many cases that passed are shown without `--all`: few where something else needs attention."""

HEADS = {
    Exit.PASSED: ("PASSED", "bold green"),
    Exit.FAILED: ("FAILED", "bold red"),
    Exit.INCONCLUSIVE: ("INCONCLUSIVE", "bold yellow"),
    Exit.LAB: ("LAB FAILED", "bold magenta"),
    Exit.INTERRUPTED: ("INTERRUPTED", "bold yellow"),
    Exit.NOTHING: ("NOTHING", "bold yellow"),
}
COUNTED: tuple[tuple[Verdict, str], ...] = (
    ("fail", "failed"),
    ("lab_error", "ended by the lab"),
    ("inconclusive", "inconclusive"),
    ("skipped", "skipped"),
    ("pass", "ok"),
)


def table(cases: Sequence[Case], *, everything: bool) -> Iterator[Text]:
    """The closing table: failures first, then the lab's own, then what tested nothing, then what passed."""
    order = [verdict for verdict, _ in GRAVEST_FIRST]
    trouble = sorted((c for c in cases if c.verdict != "pass"), key=lambda c: order.index(c.verdict))
    passed = [case for case in cases if case.verdict == "pass"]
    limit = len(passed) if everything else SHOWN_BESIDE_TROUBLE if trouble else SHOWN_ALONE
    words = words_width(case.verdict for case in cases)
    heads = columns("predicted", "measured", "")
    yield Text(" " * words + "scenario  client".ljust(WIDTH - words - len(heads)) + heads, style="dim")
    scenarios = [case.first.scenario for case in cases]
    for case in (*trouble, *passed[:limit]):
        yield tabled(case, parameters=scenarios.count(case.first.scenario) > 1, words=words)
        if case.verdict not in ("pass", "fail"):
            for reason in dict.fromkeys(r for run in case.runs if run.verdict != "pass" for r in run.reasons):
                yield folded(reason, lead=" " * words, style="dim")
    if len(passed) > limit:
        yield Text(f"{WORDS['pass'].ljust(words)}{len(passed) - limit} more (--all)", style="green")


def claims(cases: Sequence[Case]) -> Iterator[Text]:
    """Each claim once for each value that it predicts: held or refuted, and what the scenario declared."""
    seen: set[tuple[str, str, float | None, str]] = set()
    for case in cases:
        for finding in case.claims():
            judged = finding.judged
            key = (case.first.scenario, judged.formula, judged.predicted, judged.outcome)
            if key not in seen:
                seen.add(key)
                yield from _claim(finding)


def verdict(runs: Sequence[RunRecord], cases: Sequence[Case], *, planned: int, elapsed_s: float, code: Exit) -> Text:
    """The one line that answers: `FAILED  1 failed, 41 ok of 42 runs; 1 claim refuted as declared   47.1 s`."""
    head, style = HEADS[code]
    counted = counts(runs)
    told = ", ".join(f"{counted[verdict]} {word}" for verdict, word in COUNTED if counted[verdict])
    of_claims = "".join(f"; {many(number, 'claim')} {words}" for words, number in _claims_told(cases).items())
    text = f"{told or 'nothing measured'} of {many(planned, 'run')}{of_claims}"
    took = seconds(elapsed_s)
    line = Text(head, style=style)
    if len(head) + 2 + len(text) + 2 + len(took) <= WIDTH:
        return line.append(f"  {text}".ljust(WIDTH - len(head) - len(took)) + took, style="default")
    line.append("".ljust(WIDTH - len(head) - len(took)) + took + "\n", style="default")
    return line.append_text(folded(text, lead="  "))


def pointers(lines: Sequence[tuple[str, str]], code: Exit) -> Iterator[Text]:
    """`replay  faultlab replay 7f3a` and the like; the exit code stands at the end of the last line."""
    shown = [f"{word:<7} {text}" for word, text in lines] or [""]
    told = f"exit {int(code)}"
    last = shown[-1]
    fits = len(last) + 2 + len(told) <= WIDTH
    shown[-1] = f"{last.ljust(WIDTH - len(told))}{told}" if fits else f"{last}\n{told.rjust(WIDTH)}"
    for line in shown:
        yield Text(line)


def words_width(verdicts: Iterable[Verdict]) -> int:
    """The width of the verdicts' column, with its gap."""
    return max((len(WORDS[verdict]) for verdict in verdicts), default=2) + 2


def _claim(finding: Finding) -> Iterator[Text]:
    judged = finding.judged
    word = {"held": "HELD", "refuted": "REFUTED"}.get(judged.outcome, judged.outcome)
    lead = f"claim {word:<8}  "
    figures = columns(amount(judged.predicted, judged.unit), measured(finding), "")
    room = WIDTH - len(lead) - len(figures) - 2
    line = Text(lead, style="red" if judged.fails_run else "cyan")
    if len(judged.formula) <= room:
        line.append(judged.formula.ljust(room + 2) + figures, style="default")
    else:
        line.append_text(folded(judged.formula, lead="")).append("\n" + figures.rjust(WIDTH), style="default")
    yield line
    declared = "" if judged.declared_holds is None else f"declared `holds: {str(judged.declared_holds).lower()}`"
    if about := "; ".join(part for part in (judged.source, declared) if part):
        yield folded(about, lead=" " * len(lead), style="dim")


def _claims_told(cases: Sequence[Case]) -> Counter[str]:
    """How many claims (each once a scenario, refuted where it was refuted anywhere) came out how."""
    told: dict[tuple[str, str, str], Finding] = {}
    for case in cases:
        for finding in case.claims():
            judged = finding.judged
            key = (case.first.scenario, judged.measure, judged.formula)
            if judged.outcome in ("held", "refuted") and (key not in told or judged.outcome == "refuted"):
                told[key] = finding
    counted: Counter[str] = Counter()
    for finding in told.values():
        judged = finding.judged
        against = judged.declared_holds is not None and judged.declared_holds != (judged.outcome == "held")
        manner = "" if judged.declared_holds is None else ", against its `holds:`" if against else " as declared"
        counted[f"{judged.outcome}{manner}"] += 1
    return counted
