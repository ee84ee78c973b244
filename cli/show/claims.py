"""The claims at the end of a suite: each once, with its outcome over all cases that it applies to."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from cli.show import groups
from cli.show.cases import CaseRecords, ExpectationSummary
from cli.show.formatting import amount, measured, pluralized
from cli.show.rows import columns, right_aligned, wrapped
from harness.records.claims import ClaimId, all_as_declared, as_declared, combined_outcome, measure_label

OUTCOME_LABELS = {"held": "HELD", "refuted": "REFUTED", "mixed": "MIXED", "inconclusive": "UNTESTED"}
OUTCOME_COUNT_LABELS = {"refuted": "refuted", "held": "held", "mixed": "held in some cases only"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClaimInCase:
    """What a claim predicts for one case, and its outcome there."""

    formula: str
    figures: tuple[str, str]
    outcome: str
    declared_holds: bool | None
    fails: bool


@dataclass(frozen=True, slots=True)
class _ClaimSummary:
    """A claim over all cases that it speaks about, at least one."""

    of: ClaimId
    cases: tuple[_ClaimInCase, ...]

    @property
    def outcome(self) -> str:
        return combined_outcome(one.outcome for one in self.cases)

    @property
    def as_declared(self) -> bool | None:
        return all_as_declared(as_declared(one.outcome, one.declared_holds) for one in self.cases)

    @property
    def representative(self) -> _ClaimInCase:
        """The case that stands for the others: the first that failed, else that settled it, else that refuted it."""
        ranked = (
            *(one for one in self.cases if one.fails),
            *(one for one in self.cases if one.outcome == self.outcome),
            *(one for one in self.cases if one.outcome == "refuted"),
            *self.cases,
        )
        return ranked[0]


def claims(cases: Sequence[CaseRecords], *, width: int) -> Iterator[Text]:
    """Each claim once: what it says, what was measured in the case that stands for all, and in how many it was so."""
    for claim in _claims(cases):
        one = claim.representative
        lead = f"claim {OUTCOME_LABELS[claim.outcome]:<8}  "
        line = Text(lead, style="red" if any(case.fails for case in claim.cases) else "cyan")
        text = right_aligned(one.formula, columns(*one.figures, ""), lead=len(lead), width=width)
        yield line.append(text, style="default")
        about = [part for part in (claim.of.source, "; ".join(_claim_details(claim))) if part]
        together = "; ".join(about)
        for part in [together] if len(lead) + cell_len(together) <= width else about:
            yield wrapped(part, lead=" " * len(lead), style="dim", width=width)


def claims_summary(cases: Sequence[CaseRecords]) -> Iterator[str]:
    """`claims as declared: 1 refuted, 2 held`; what nothing settled is not counted."""
    by_manner: dict[str, Counter[str]] = {}
    for claim in _claims(cases):
        if claim.outcome in OUTCOME_COUNT_LABELS:
            manner = {None: "", True: " as declared", False: " not as declared"}[claim.as_declared]
            by_manner.setdefault(manner, Counter())[claim.outcome] += 1
    for manner, counted in by_manner.items():
        outcomes = ", ".join(
            f"{counted[outcome]} {words}" for outcome, words in OUTCOME_COUNT_LABELS.items() if counted[outcome]
        )
        yield f"claims{manner}: {outcomes}"


def _claim_details(claim: _ClaimSummary) -> Iterator[str]:
    """In how many cases it is so where there are several, and what the scenario declared."""
    if len(claim.cases) > 1:
        if claim.outcome == "mixed":
            counted = Counter(one.outcome for one in claim.cases)
            counts = ", ".join(
                f"{outcome} in {counted[outcome]}" for outcome in ("refuted", "held") if counted[outcome]
            )
        else:
            counts = f"{claim.outcome} in {sum(one.outcome == claim.outcome for one in claim.cases)}"
        yield f"{counts} of {pluralized(len(claim.cases), 'case')}"
    declared = {one.declared_holds for one in claim.cases}
    if declared == {True} or declared == {False}:
        yield f"declared `holds: {str(declared.pop()).lower()}`"


def _claims(cases: Sequence[CaseRecords]) -> tuple[_ClaimSummary, ...]:
    """In the order in which each is first made."""
    together: dict[ClaimId, list[_ClaimInCase]] = {}
    for case in cases:
        for of, claimed in _claims_in_case(case):
            together.setdefault(of, []).append(claimed)
    return tuple(_ClaimSummary(of, tuple(own)) for of, own in together.items())


def _claims_in_case(case: CaseRecords) -> Iterator[tuple[ClaimId, _ClaimInCase]]:
    """All of a case that were not skipped: on single runs, and on what many runs have in common."""
    for finding in case.claims():
        judged = finding.judged
        what = measure_label(judged.measure)
        yield ClaimId(what, judged.formula, judged.source), _ClaimInCase(
            formula=judged.formula if judged.unit == "s" else f"{what} = {judged.formula}",
            figures=(amount(judged.predicted, judged.unit), measured(finding)),
            outcome=_over_repeats(case, finding), declared_holds=judged.declared_holds, fails=judged.fails_run,
        )  # fmt: skip
    for group in case.groups:
        if group.kind == "claim" and group.outcome != "skipped":
            yield ClaimId(groups.called(group), group.formula, group.source), _ClaimInCase(
                formula=f"{groups.called(group)}: {group.formula}",
                figures=(groups.predicted(group), groups.estimate(group)),
                outcome=group.outcome, declared_holds=group.declared_holds, fails=group.verdict == "fail",
            )  # fmt: skip


def _over_repeats(case: CaseRecords, finding: ExpectationSummary) -> str:
    of = finding.judged
    same = (of.measure, of.kind, of.formula, of.line)
    return combined_outcome(
        one.outcome
        for run in case.runs
        for one in run.expectations
        if (one.measure, one.kind, one.formula, one.line) == same and one.outcome != "skipped"
    )
