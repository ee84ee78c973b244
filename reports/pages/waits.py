"""The waits table as the page shows it: beside the formula of its case."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reports.charts.letters import Badge, badges
from reports.pages.cases import KEY, Row, key_of
from reports.pages.cut import Cut, cut

MOST_CASES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitRow:
    """What a case waited for on one setting, beside what its formula says."""

    row: Row
    badge: Badge
    formula_count: float | None
    formula_s: float | None


def waits_of(waits: Sequence[Row], timeouts: Sequence[Row]) -> Cut[tuple[str, tuple[WaitRow, ...]]]:
    """The waits table with its cases' formulas beside it, by case and operation; what waited longest comes first."""
    terms = {
        (*key_of(row), str(row["measure"]).partition(".")[0]): row["terms"]
        for row in timeouts
        if row["unit"] == "s" and row["terms"]
    }
    marks = badges(sorted({row["setting"] for row in waits}))
    together: dict[tuple[Any, ...], list[WaitRow]] = {}
    for row in waits:
        key = (*key_of(row), row["operation"])
        if key not in terms:
            continue
        own = [term for term in terms[key] if term["setting"] == row["setting"]]
        together.setdefault(key, []).append(
            WaitRow(
                row=row,
                badge=marks[row["setting"]],
                formula_count=sum(term["count"] or 0 for term in own) if own else None,
                formula_s=sum(term["total"] for term in own) if own else None,
            )
        )
    ordered = sorted(together.items(), key=lambda one: -sum(row.row["total_s"] for row in one[1]))
    return cut(((title_of(key), tuple(own)) for key, own in ordered), MOST_CASES, "report/waits.parquet")


def title_of(key: tuple[Any, ...]) -> str:
    named = dict(zip((*KEY, "operation"), key, strict=True))
    case = f", {named['case']}" if named["case"] else ""
    driver = "" if named["driver"] == "bundled" else f" ({named['driver']})"
    client = f"{named['client']} {named['client_version']}{driver}"
    return f"{named['scenario']}{case}, {client}, {named['environment']}: {named['operation']}"
