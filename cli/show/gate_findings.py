"""What a gate found, a sentence a case: what its annotations, its page of a job and its JUnit XML are made of."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from cli.show.difference_text import case_label, change, figures, label, measure_label, q_value, silent_reason
from harness.comparing.cases import CaseRuns
from harness.comparing.shifts import MIN_RUNS, Shift
from harness.gating.assessment import AssessedDifference, Assessment, ComparedCase
from harness.gating.gate import GateResult
from harness.records.case_key import CaseKey

CaseStatus = Literal["regression", "lost", "unsure", "noted", "better", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFinding:
    """`case` as `gate` prints it; `kind` is a word for the regression (`slower`); `figures` may be empty; `path` is the
    scenario's file as it was named when it ran, empty where that is not known."""

    status: CaseStatus
    scenario: str
    case: str
    kind: str
    measure: str
    figures: str
    path: str

    @property
    def sentence(self) -> str:
        """`time to error 17.50 -> 19.62 s  +2.12 [+1.95 +2.31]  q=0.0004`."""
        return " ".join(f"{self.measure} {self.figures}".split())


def findings(gated: GateResult) -> Iterator[GateFinding]:
    """Of every case of the baseline, the most_severe first; nothing where nothing was compared."""
    cases = gated.current.cases + gated.baseline.cases
    for one in gated.cases_assessed("regression"):
        yield _compared(one, "regression", cases)
    for case in gated.lost:
        yield _gate_finding("lost", case.key, cases, kind="lost", figures="in the baseline, not run now")
    for silent in gated.silent:
        words = ": ".join([silent_reason(silent), *silent.spoilt.reasons[:1]])
        yield _gate_finding("unsure", silent.key, cases, kind="unsure", figures=words, path=silent.now.path)
    others: tuple[Assessment, ...] = ("unsure", "noted", "better", "unchanged")
    for assessment in others:
        for one in gated.cases_assessed(assessment):
            yield _compared(one, assessment, cases)


def _compared(one: ComparedCase, status: CaseStatus, cases: tuple[CaseRuns, ...]) -> GateFinding:
    kind = status if status != "regression" else label(one.assessed[0])
    leading = _leading(one, status)
    where = f"  where: {', '.join(one.where)}" if one.where else ""
    measure = measure_label(leading.of.measure) if leading is not None and isinstance(leading.of, Shift) else ""
    text = f"{_figures(leading)}{_needed(one, leading, status)}{where}" if leading is not None else ""
    return _gate_finding(status, one.key, cases, kind=kind, measure=measure, figures=text, path=one.now.path)


def _leading(one: ComparedCase, status: CaseStatus) -> AssessedDifference | None:
    """The difference that stands for the case: the most severe; of an unchanged case a time, where there is one."""
    times = (assessed for assessed in one.assessed if isinstance(assessed.of, Shift) and assessed.of.unit == "s")
    most_severe = one.assessed[0] if one.assessed else None
    return next(times, most_severe) if status == "unchanged" else most_severe


def _figures(one: AssessedDifference) -> str:
    text = figures(one.of) if isinstance(one.of, Shift) else change(one.of)
    return "  ".join(part for part in (text, q_value(one) if one.assessment == "regression" else "") if part)


def _needed(one: ComparedCase, leading: AssessedDifference, status: CaseStatus) -> str:
    if status not in ("unsure", "noted"):
        return ""
    few = min(one.before.counted, one.now.counted) < MIN_RUNS
    runs = f"  only {one.before.counted} + {one.now.counted} conclusive runs" if few else ""
    return runs + (f"  needs {leading.runs_needed} runs a side" if leading.runs_needed is not None else "")


def _gate_finding(
    status: CaseStatus, name: CaseKey, cases: tuple[CaseRuns, ...], *, kind: str, measure: str = "", figures: str = "",
    path: str = "",
) -> GateFinding:  # fmt: skip
    case = " ".join(case_label(name, cases, client=True).split())
    return GateFinding(
        status=status, scenario=name.scenario, case=case, kind=kind, measure=measure, figures=figures, path=path
    )
