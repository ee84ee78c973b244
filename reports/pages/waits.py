"""The waits table as the page shows it: where the time of each case went, setting by setting, beside its formula."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.charts.axis import Axis
from reports.charts.badges import Badge
from reports.charts.timeline import MIN_SHARE, Block, stack_blocks, times
from reports.pages.cases import DisplayNames, Row, key_of
from reports.pages.heat import WAITS
from reports.pages.times import parameters_of
from reports.pages.truncate import Truncated

MAX_CASES = 60
SHORTEST_S = 1e-6
"""No axis is shorter, so that none is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitRow:
    """What a case waited for on one setting, beside what its formula says."""

    row: Row
    badge: Badge
    formula_count: float | None
    formula_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitCase:
    """One operation of one case; `measured` and `formula` are waits laid end to end, on the axis of all cases. Not
    `by_formula`: a bound that names no setting was all that was expected."""

    scenario: str
    client: str
    fault: str
    verdict: str
    operation: str
    case: tuple[tuple[str, str], ...]
    rows: tuple[WaitRow, ...]
    by_formula: bool
    measured: tuple[Block, ...]
    formula: tuple[Block, ...]

    @property
    def title(self) -> str:
        """Its name among all of them."""
        parameters = "".join(f", {name}={value}" for name, value in self.case)
        return f"{self.scenario}{parameters}, {self.client}: {self.operation}"

    @property
    def measured_s(self) -> float:
        return seconds_of(self.rows)

    @property
    def formula_s(self) -> float:
        return formula_seconds(self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """`cases` by their time, the longest first, on one axis that ends at `axis_s`; `legend` has all settings."""

    cases: Truncated[WaitCase]
    axis_s: float
    legend: tuple[Badge, ...]


def waits_of(
    waits: Sequence[Row], timeouts: Sequence[Row], names: DisplayNames, marks: Mapping[str, Badge]
) -> Waits | None:
    """None where no client reported what it waited on, or no formula names it."""
    terms = terms_of(timeouts)
    explained = [row for row in waits if (*key_of(row), row["operation"]) in terms]
    if not explained:
        return None
    together: dict[tuple[Any, ...], list[WaitRow]] = {}
    for row in explained:
        key = (*key_of(row), row["operation"])
        together.setdefault(key, []).append(wait_row(row, terms[key], marks[row["setting"]]))
    place = {setting: number for number, setting in enumerate(marks)}
    for rows in together.values():
        rows.sort(key=lambda one: (one.formula_s is None, place[one.badge.setting]))
    ordered = sorted(together.values(), key=lambda rows: -seconds_of(rows))
    shown = ordered[:MAX_CASES]
    axis = Axis(0.0, max(SHORTEST_S, *(max(seconds_of(rows), formula_seconds(rows)) for rows in shown)))
    made = (wait_case(rows, names, axis) for rows in shown)
    cases = Truncated(tuple(made), len(ordered), "report/waits.parquet", worst_first=False)
    named = {row["setting"] for row in explained}
    return Waits(
        cases=cases, axis_s=axis.end_s, legend=tuple(badge for setting, badge in marks.items() if setting in named)
    )


def terms_of(timeouts: Iterable[Row]) -> dict[tuple[Any, ...], Sequence[Row]]:
    """What formulas say of a whole operation, nothing where all that is expected of it is a limit; of one setting's
    share alone (`waited(...)`) they do not."""
    found: dict[tuple[Any, ...], tuple[int, Sequence[Row]]] = {}
    for row in timeouts:
        alias, _, what = str(row["measure"]).partition(".")
        if what in WAITS and row["kind"]:
            candidate = (WAITS.index(what), row["terms"] if row["kind"] == "equals" else ())
            found[*key_of(row), alias] = min(
                candidate, found.get((*key_of(row), alias), candidate), key=lambda one: one[0]
            )
    return {place: terms for place, (_, terms) in found.items()}


def wait_row(row: Row, terms: Iterable[Row], badge: Badge) -> WaitRow:
    own = [term for term in terms if term["setting"] == row["setting"]]
    return WaitRow(
        row=row,
        badge=badge,
        formula_count=sum(term["count"] or 0 for term in own) if own else None,
        formula_s=sum(term["total"] for term in own) if own else None,
    )


def wait_case(rows: Sequence[WaitRow], names: DisplayNames, axis: Axis) -> WaitCase:
    first = rows[0].row
    by_formula = any(one.formula_s is not None for one in rows)
    least_s = MIN_SHARE * max(seconds_of(rows), formula_seconds(rows), SHORTEST_S)
    return WaitCase(
        scenario=first["scenario"],
        client=names.of(first),
        fault=names.fault(first),
        verdict=names.verdict(first),
        operation=first["operation"],
        case=parameters_of(first["case"]),
        rows=tuple(one for one in rows if one.formula_s is not None or one.row["total_s"] >= least_s),
        by_formula=by_formula,
        measured=stack_blocks(
            axis,
            (
                (
                    one.badge,
                    times(one.row["elapsed"] or None, one.badge),
                    one.row["total_s"],
                    by_formula and one.formula_s is None,
                )
                for one in rows
                if one.row["total_s"] >= least_s
            ),
        ),
        formula=stack_blocks(
            axis,
            ((one.badge, times(one.formula_count, one.badge), one.formula_s, False) for one in rows if one.formula_s),
        ),
    )


def seconds_of(rows: Iterable[WaitRow]) -> float:
    return float(sum(one.row["total_s"] for one in rows))


def formula_seconds(rows: Iterable[WaitRow]) -> float:
    return float(sum(one.formula_s or 0.0 for one in rows))
