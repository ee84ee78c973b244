"""The timeout table as the page shows it: by scenario and case, with formulas numbered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reports.charts.strip import Strip, strip_of
from reports.pages.cases import Case, Row, key_of
from reports.pages.verdicts import GRAVEST_FIRST, gravest, of_outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRow:
    """A row of the timeout table. `share` is its time in per cent of the longest; `reference` is the number of its
    formula, 0 without one, and `anchor` where that formula stands on the page."""

    row: Row
    verdict: str
    strip: Strip | None
    share: float
    reference: int
    anchor: str
    case: tuple[tuple[str, str], ...]
    again: bool = False
    """Another measure of the case above."""

    @property
    def alias(self) -> str:
        return str(self.row["measure"]).partition(".")[0]

    @property
    def what(self) -> str:
        return str(self.row["measure"]).partition(".")[2].replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A scenario's rows and the formulas that they refer to: anchor, formula, source."""

    name: str
    about: str
    client: str
    environment: str
    verdict: str
    rows: tuple[TimeRow, ...]
    formulas: tuple[tuple[str, str, str], ...]


def time_rows(timeouts: Sequence[Row]) -> list[TimeRow]:
    longest = max((row["median"] for row in timeouts if row["unit"] == "s" and row["median"]), default=0.0)
    numbers: dict[tuple[str, str, str], dict[str, int]] = {}
    rows = []
    for row in sorted(timeouts, key=lambda row: (row["unit"] != "s", row["line"] or 0)):
        verdict = of_outcomes(row)
        known = numbers.setdefault(group_of(row), {})
        reference = known.setdefault(row["formula"], len(known) + 1) if row["formula"] else 0
        anchor = f"formula-{list(numbers).index(group_of(row)) + 1}-{reference}"
        in_seconds = row["unit"] == "s" and row["median"] and longest
        rows.append(
            TimeRow(
                row=row,
                verdict=verdict,
                strip=strip_of(row),
                share=round(100 * row["median"] / longest, 2) if in_seconds else 0.0,
                reference=reference,
                anchor=anchor,
                case=parameters_of(row["case"]),
            )
        )
    return rows


def parameters_of(case: str) -> tuple[tuple[str, str], ...]:
    """`Retry.Max=1, bootstrap=[1, 2]` as pairs: a comma ends a parameter only where a next one begins."""
    parts = re.split(r", (?=[^\s=,]+=)", case) if case else []
    return tuple((name, value) for name, _, value in (part.partition("=") for part in parts))


def group_of(row: Row) -> tuple[str, str, str]:
    return row["scenario"], f"{row['client']} {row['client_version']}", row["environment"]


def scenarios_of(rows: Sequence[TimeRow], cases: Mapping[tuple[Any, ...], Case]) -> tuple[Scenario, ...]:
    """Scenarios with failures first, then those that tested nothing; within one, times before counts."""
    together: dict[tuple[str, str, str], list[TimeRow]] = {}
    for row in rows:
        together.setdefault(group_of(row.row), []).append(row)
    scenarios = []
    for (name, client, environment), own in together.items():
        own = case_by_case(own)
        with_formula = sorted((one for one in own if one.reference), key=lambda one: one.reference)
        formulas = {one.anchor: (one.anchor, one.row["formula"], one.row["source"] or "") for one in with_formula}
        scenarios.append(
            Scenario(
                name=name,
                about=own[0].row["about"] or "",
                client=client,
                environment=environment,
                verdict=gravest(cases[key_of(one.row)].verdict for one in own),
                rows=tuple(own),
                formulas=tuple(formulas.values()),
            )
        )
    return tuple(sorted(scenarios, key=lambda one: (GRAVEST_FIRST.index(one.verdict), one.name)))


def case_by_case(rows: Sequence[TimeRow]) -> list[TimeRow]:
    """A case's measures below each other, times before counts; failed cases first."""
    together: dict[tuple[Any, ...], list[TimeRow]] = {}
    for row in rows:
        together.setdefault(key_of(row.row), []).append(row)
    ordered: list[TimeRow] = []
    for own in sorted(together.values(), key=lambda own: all(one.verdict == "pass" for one in own)):
        own.sort(key=lambda one: (one.row["unit"] != "s", one.row["line"] or 0))
        ordered += [replace(one, again=index > 0) for index, one in enumerate(own)]
    return ordered
