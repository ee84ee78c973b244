"""What got worse, a block for each cause: the settings that were changed, or what the client does more often."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from cli.show.difference_text import case_label, change, figures, measure_label, q_value, short_figures
from cli.show.gate_rows import WORD, GateRows
from cli.show.rows import GAP
from harness.comparing.shifts import Shift
from harness.gating.assessment import AssessedDifference, ComparedCase
from harness.gating.gate import GateResult

MAX_CAUSES = 12
"""So many causes have a block without `--all`."""
MAX_OTHERS = 8
"""So many further cases of one cause are shown without `--all`."""
MAX_FURTHER_REGRESSIONS = 3
"""So many further regressions of one case are shown without `--all`."""


def regressions(gated: GateResult, rows: GateRows) -> Iterator[Text]:
    """The most severe cause first."""
    causes = _by_cause(gated.cases_assessed("regression"))
    for cases in rows.limited(causes, MAX_CAUSES):
        yield from _cause(gated, cases, rows)
    yield from rows.omitted_note(causes, MAX_CAUSES)


def _by_cause(cases: Sequence[ComparedCase]) -> list[list[ComparedCase]]:
    """Cases with the same changed settings together; without any, those in which the client does as much more. What
    nothing explains stands alone."""
    together: dict[object, list[ComparedCase]] = {}
    for one in cases:
        together.setdefault(one.settings or one.work or one.key, []).append(one)
    return list(together.values())


def _cause(gated: GateResult, cases: Sequence[ComparedCase], rows: GateRows) -> Iterator[Text]:
    worst, *others = cases
    if not others:
        yield from _worst(gated, worst, rows, lead="", where=worst.where)
        return
    compared = len(gated.compared)
    number = f"all {compared}" if len(cases) == compared else f"{len(cases)} of {compared}"
    yield rows.labelled("REGRESSION", f"{number} cases: {', '.join(worst.settings or worst.work)}")
    yield from _worst(gated, worst, rows, lead="worst: ", where=worst.work if worst.settings else ())
    shown = rows.limited(others, MAX_OTHERS)
    names = [case_label(one.key, gated.current.cases + gated.baseline.cases, client=True) for one in shown]
    texts = [short_figures(one.assessed[0]) for one in shown]
    needed = max(map(cell_len, names)) + GAP + max(map(cell_len, texts))
    for name, text in zip(names, texts, strict=True):
        yield rows.figures_beside(name, text, columns=needed)
    yield from rows.omitted_note(others, MAX_OTHERS)


def _worst(gated: GateResult, one: ComparedCase, rows: GateRows, *, lead: str, where: Sequence[str]) -> Iterator[Text]:
    """A case in full: how much worse, what else is worse, and why."""
    first, *further = one.differences_assessed("regression")
    further = [other for other in further if not _is_explained_by(other, first)]
    name = lead + case_label(one.key, gated.current.cases + gated.baseline.cases, client=True)
    measure = measure_label(first.of.measure) if isinstance(first.of, Shift) else ""
    yield rows.labelled("" if lead else "REGRESSION", f"{name}  {measure}".rstrip())
    if isinstance(first.of, Shift):
        yield rows.indented(figures(first.of), q_value(first), f"floor {_floor(first.of)}")
    else:
        yield rows.indented(change(first.of), q_value(first))
    for other in rows.limited(further, MAX_FURTHER_REGRESSIONS):
        yield rows.wrapped(f"also: {short_figures(other, named=True)}", lead=" " * WORD)
    yield from rows.omitted_note(further, MAX_FURTHER_REGRESSIONS)
    if where:
        yield rows.wrapped(f"where: {', '.join(where)}", lead=" " * WORD)


def _is_explained_by(count: AssessedDifference, time: AssessedDifference) -> bool:
    """Whether it is a count that `where:` tells of anyhow."""
    return isinstance(count.of, Shift) and count.of.unit == "count" and isinstance(time.of, Shift)


def _floor(shift: Shift) -> str:
    return f"{shift.floor:.2f}" if shift.unit == "s" else f"{shift.floor:g}"
