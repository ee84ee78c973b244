"""The end of a suite: the table with what needs attention first, and the verdict last."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from cli.exits import GRAVEST_FIRST, Exit
from cli.show import groups
from cli.show.cases import Case, case_key, counts, with_several_cases
from cli.show.claims import claims_told
from cli.show.figures import WIDTH, WORDS, many, seconds
from cli.show.rows import Rows, beside, columns, folded
from harness.records.run import RunRecord, Verdict

SHOWN_BESIDE_TROUBLE = 6
SHOWN_ALONE = 30
"""So many cases that passed are shown without `--all`: few where something else needs attention."""

REASONS = 2
"""So many reasons of an inconclusive case are shown: the others mostly follow from them."""

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
    words = max(len(WORDS[case.verdict]) for case in cases) + 2
    rows = Rows(words=words, several=with_several_cases(case_key(case.first) for case in cases))
    yield Text(" " * words + beside("scenario  client", columns("predicted", "measured", ""), lead=words), style="dim")
    for case in (*trouble, *passed[:limit]):
        yield rows.tabled(case)
        if case.verdict in ("inconclusive", "skipped"):
            yield from _reasons(case, lead=" " * (words + 2))
    if len(passed) > limit:
        yield Text(f"{WORDS['pass'].ljust(words)}{len(passed) - limit} more (--all)", style="green")


def verdict(runs: Sequence[RunRecord], cases: Sequence[Case], *, planned: int, elapsed_s: float, code: Exit) -> Text:
    """The one line that answers: `FAILED  1 failed, 41 ok of 42 runs; 1 claim refuted as declared   47.1 s`."""
    head, style = HEADS[code]
    text = sentence(runs, cases, planned=planned)
    took = seconds(elapsed_s)
    line = Text(head, style=style)
    if len(head) + 2 + len(text) + 2 + len(took) <= WIDTH:
        return line.append(f"  {text}".ljust(WIDTH - len(head) - len(took)) + took, style="default")
    line.append("".ljust(WIDTH - len(head) - len(took)) + took + "\n", style="default")
    return line.append_text(folded(text, lead="  "))


def sentence(runs: Sequence[RunRecord], cases: Sequence[Case], *, planned: int) -> str:
    """`1 failed, 41 ok of 42 runs; claims as declared: 1 refuted`."""
    counted = counts(runs)
    told = ", ".join(f"{counted[verdict]} {word}" for verdict, word in COUNTED if counted[verdict])
    more = "".join(f"; {words}" for words in (*_groups_told(cases), *claims_told(cases)))
    return f"{told or 'nothing measured'} of {many(planned, 'run')}{more}"


def pointers(lines: Sequence[tuple[str, str]], code: Exit) -> Iterator[Text]:
    """`replay  faultlab replay 7f3a` and the like; the exit code stands at the end of the last line."""
    shown = [f"{word:<7} {text}" for word, text in lines] or [""]
    told = f"exit {int(code)}"
    last = shown[-1]
    fits = len(last) + 2 + len(told) <= WIDTH
    shown[-1] = f"{last.ljust(WIDTH - len(told))}{told}" if fits else f"{last}\n{told.rjust(WIDTH)}"
    for line in shown:
        yield Text(line)


def _reasons(case: Case, *, lead: str) -> Iterator[Text]:
    """The first reasons why nothing was proven; what follows from them is counted."""
    told = [r for run in case.runs if run.verdict != "pass" for r in run.reasons]
    told += [f"{groups.called(group)}: {group.reason}" for group in case.groups if group.verdict == "inconclusive"]
    reasons = list(dict.fromkeys(told))
    for reason in reasons[:REASONS]:
        yield folded(reason, lead=lead, style="dim")
    if len(reasons) > REASONS:
        yield folded(f"and {many(len(reasons) - REASONS, 'reason')} more", lead=lead, style="dim")


def _groups_told(cases: Sequence[Case]) -> Iterator[str]:
    """`over repeats: 1 failed, 2 ok`, where not all are ok: no run's own verdict says so."""
    counted: Counter[str] = Counter(group.verdict for case in cases for group in case.groups)
    counted.pop("skipped", None)
    if set(counted) - {"pass"}:
        told = ", ".join(f"{counted[verdict]} {word}" for verdict, word in COUNTED if counted[verdict])
        yield f"over repeats: {told}"
