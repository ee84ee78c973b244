"""The end of a suite: the table with what needs attention first, the claims, and the verdict last."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from cli.exits import GRAVEST_FIRST, Exit
from cli.show import groups
from cli.show.cases import Case, case_key, counts, with_several_cases
from cli.show.figures import WIDTH, WORDS, amount, many, measured, seconds
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
CLAIMED = {"held": "HELD", "refuted": "REFUTED", "inconclusive": "UNTESTED"}
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


def claims(cases: Sequence[Case]) -> Iterator[Text]:
    """Each claim once for each value that it predicts: held or refuted, and what the scenario declared."""
    seen: set[tuple[str, str, str, float | None, str]] = set()
    for case in cases:
        for claim in _claimed(case):
            key = (case.first.scenario, claim.what, claim.formula, claim.predicted, claim.outcome)
            if key not in seen:
                seen.add(key)
                yield from _claim(claim)


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
    more = "".join(f"; {words}" for words in (*_groups_told(cases), *_claims_told(cases)))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A claim on a single run, or on what many runs have in common. `what`: of which measure; `told` shows it."""

    what: str
    formula: str
    told: str
    predicted: float | None
    figures: tuple[str, str]
    outcome: str
    declared_holds: bool | None
    fails: bool
    source: str


def _claimed(case: Case) -> Iterator[_Claim]:
    """All of a case that were not skipped."""
    for finding in case.claims():
        judged = finding.judged
        kind = judged.measure.rpartition(".")[2]
        yield _Claim(
            what=judged.measure, formula=judged.formula, predicted=judged.predicted, outcome=judged.outcome,
            told=judged.formula if judged.unit == "s" else f"{kind} = {judged.formula}",
            figures=(amount(judged.predicted, judged.unit), measured(finding)),
            declared_holds=judged.declared_holds, fails=judged.fails_run, source=judged.source,
        )  # fmt: skip
    for group in case.groups:
        if group.kind == "claim" and group.outcome != "skipped":
            yield _Claim(
                what=groups.called(group), formula=group.formula, predicted=group.predicted, outcome=group.outcome,
                told=f"{groups.called(group)}: {group.formula}",
                figures=(groups.predicted(group), groups.estimate(group)),
                declared_holds=group.declared_holds, fails=group.verdict == "fail", source=group.source,
            )  # fmt: skip


def _claim(claim: _Claim) -> Iterator[Text]:
    lead = f"claim {CLAIMED.get(claim.outcome, claim.outcome):<8}  "
    line = Text(lead, style="red" if claim.fails else "cyan")
    yield line.append(beside(claim.told, columns(*claim.figures, ""), lead=len(lead)), style="default")
    declared = "" if claim.declared_holds is None else f"declared `holds: {str(claim.declared_holds).lower()}`"
    about = [part for part in (claim.source, declared) if part]
    together = "; ".join(about)
    for part in [together] if len(lead) + cell_len(together) <= WIDTH else about:
        yield folded(part, lead=" " * len(lead), style="dim")


def _claims_told(cases: Sequence[Case]) -> Iterator[str]:
    """`claims as declared: 1 refuted, 2 held`: each claim once a scenario, refuted where it was refuted anywhere."""
    told: dict[tuple[str, str, str], _Claim] = {}
    for case in cases:
        for claim in _claimed(case):
            key = (case.first.scenario, claim.what, claim.formula)
            if claim.outcome in ("held", "refuted") and (key not in told or claim.outcome == "refuted"):
                told[key] = claim
    by_manner: dict[str, Counter[str]] = {}
    for claim in told.values():
        against = claim.declared_holds is not None and claim.declared_holds != (claim.outcome == "held")
        manner = "" if claim.declared_holds is None else " against their `holds:`" if against else " as declared"
        by_manner.setdefault(manner, Counter())[claim.outcome] += 1
    for manner, counted in by_manner.items():
        outcomes = ", ".join(f"{counted[outcome]} {outcome}" for outcome in ("refuted", "held") if counted[outcome])
        yield f"claims{manner}: {outcomes}"
