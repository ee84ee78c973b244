"""What a gate found, a sentence a case: what its annotations, its page of a job and its JUnit XML are made of."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from cli.show.shifted import change, figures, label, measure_words, named, rate, silent_words
from harness.gating.cases import CaseName, CaseRuns
from harness.gating.comparison import Gated
from harness.gating.judging import Compared, Judged
from harness.gating.shifts import LEAST, Shift

Word = Literal["regression", "lost", "unsure", "better", "unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`case` as `gate` prints it; `kind` is a word for the regression (`slower`); `figures` may be empty; `path` is the
    scenario's file as it was named when it ran, empty where that is not known."""

    word: Word
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


def findings(gated: Gated) -> Iterator[Found]:
    """Of every case of the baseline, the gravest first; nothing where nothing was compared."""
    told = gated.current.cases + gated.baseline.cases
    for one in gated.that("regression"):
        yield _compared(one, "regression", told)
    for case in gated.lost:
        yield _found("lost", case.name, told, kind="lost", figures="in the baseline, not run now")
    for silent in gated.silent:
        words = ": ".join([silent_words(silent), *silent.spoilt.reasons[:1]])
        yield _found("unsure", silent.name, told, kind="unsure", figures=words, path=silent.now.path)
    for one in gated.that("unsure"):
        yield _compared(one, "unsure", told)
    for one in gated.that("better"):
        yield _compared(one, "better", told)
    for one in gated.that("unchanged"):
        yield _compared(one, "unchanged", told)


def _compared(one: Compared, word: Word, told: tuple[CaseRuns, ...]) -> Found:
    kind = word if word != "regression" else label(one.judged[0])
    leading = _leading(one, word)
    where = f"  where: {', '.join(one.where)}" if one.where else ""
    measure = measure_words(leading.of.measure) if leading is not None and isinstance(leading.of, Shift) else ""
    told_of = f"{_figures(leading)}{_needed(one, leading, word)}{where}" if leading is not None else ""
    return _found(word, one.name, told, kind=kind, measure=measure, figures=told_of, path=one.now.path)


def _leading(one: Compared, word: Word) -> Judged | None:
    """What it is told by: the gravest; of what is as it was, a time where there is one."""
    times = (judged for judged in one.judged if isinstance(judged.of, Shift) and judged.of.unit == "s")
    gravest = one.judged[0] if one.judged else None
    return next(times, gravest) if word == "unchanged" else gravest


def _figures(one: Judged) -> str:
    told = figures(one.of) if isinstance(one.of, Shift) else change(one.of)
    return "  ".join(part for part in (told, rate(one) if one.said == "regression" else "") if part)


def _needed(one: Compared, leading: Judged, word: Word) -> str:
    if word != "unsure":
        return ""
    few = min(one.before.counted, one.now.counted) < LEAST
    runs = f"  only {one.before.counted} + {one.now.counted} conclusive runs" if few else ""
    return runs + (f"  needs {leading.needed} runs a side" if leading.needed is not None else "")


def _found(
    word: Word, name: CaseName, told: tuple[CaseRuns, ...], *, kind: str, measure: str = "", figures: str = "",
    path: str = "",
) -> Found:  # fmt: skip
    case = " ".join(named(name, told, client=True).split())
    return Found(word=word, scenario=name.scenario, case=case, kind=kind, measure=measure, figures=figures, path=path)
