"""The timeout table as the page shows it: by scenario and case, with formulas numbered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from harness.records.bounds import LIMITS, bound_text, distance_rank, farthest_off
from reports import figures
from reports.charts.strip import Strip, overview_of, strip_of
from reports.grouping import grouped
from reports.pages.cases import Case, DisplayNames, Row, key_of, replay_command
from reports.pages.truncate import Truncated, truncate
from reports.pages.verdicts import SEVERITY_ORDER, verdict_of_row, worst_verdict

MAX_ROWS = 900
"""Rows of the page's table, each scenario's own line among them: at some 1.5 KB each about half of what a page may
weigh."""

MAX_SETTINGS = 1500
"""Characters of a scenario's settings that the search sees."""
MAX_SEARCHED = 160
"""Characters of an error that the search sees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRow:
    """A row of the expectations table, or of the timeout table where nothing was expected. `off` is by how much its
    worst run lies above its prediction or limit (below: negative). `reference` is the number of its formula, 0 where
    the bound says all of it, and `anchor` where that formula stands on the page."""

    row: Row
    verdict: str
    client: str
    fault: str
    replay: str
    strip: Strip | None
    off: float | None
    reference: int
    anchor: str
    case: tuple[tuple[str, str], ...]
    again: bool = False
    """Another measure of the case above."""
    error: str = ""
    """What the caller got, for the search."""

    @property
    def alias(self) -> str:
        return str(self.row["measure"]).partition(".")[0]

    @property
    def what(self) -> str:
        return str(self.row["measure"]).partition(".")[2].replace("_", " ")

    @property
    def bound(self) -> str:
        """As the scenario writes it."""
        return bound_text(self.row["kind"], self.row["formula"], self.row["bound"])

    @property
    def name(self) -> str:
        """Unless the bound says it already."""
        name = self.row["name"] or ""
        return "" if f"formula({name})" in self.bound else name

    @property
    def place(self) -> str:
        return f"{self.row['path']}:{self.row['line']}"

    @property
    def measured(self) -> str:
        return figures.measured(self.row)

    @property
    def off_text(self) -> str:
        """`+3.850 s`; nothing where it is as predicted."""
        text = "" if self.off is None else figures.difference(self.off, self.row["unit"])
        return text if text.startswith(("+", figures.MINUS)) else ""

    @property
    def late(self) -> str:
        """How late the lab was, where that is why its verdict is inconclusive."""
        late_s = self.row["late_s"] if self.verdict == "inconclusive" else None
        return "" if late_s is None else f"the lab was up to {figures.short(late_s)} late"

    @property
    def distance(self) -> tuple[float, float]:
        """How far it is off where it should not be: what sorts rows, the farthest off last."""
        if self.verdict != "fail" and (self.off is None or self.row["kind"] in LIMITS):
            return 0.0, 0.0
        seconds, share = distance_rank(self.row["unit"], self.off, self.row["predicted"] or self.row["high"])
        return (seconds if self.verdict == "fail" else 0.0), share

    @property
    def tally(self) -> str:
        """`5 of 5 runs`, `2 of 3 runs, 1 did not end`; `the only run`."""
        outcome = {"pass": "held", "fail": "failed", "inconclusive": "inconclusive"}.get(self.verdict, "unjudged")
        ended = f", {self.row['censored']} did not end" if self.row["censored"] else ""
        if self.row["n"] == 1:
            return "the only run, which did not end" if self.row["censored"] else "the only run"
        return f"{self.row[outcome]} of {figures.many(self.row['n'], 'run')}{ended}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A scenario's rows and the formulas that they refer to: anchor, formula, source. `strip` has all rows in one."""

    name: str
    about: str
    client: str
    verdict: str
    rows: tuple[TimeRow, ...]
    formulas: tuple[tuple[str, str, str], ...]
    strip: Strip | None
    span: str
    cases: int
    longest_s: float | None
    largest_distance: tuple[float, float]
    """That of its row that is farthest off."""
    settings: str
    """Those of its client, for the search."""
    left_out: int = 0
    """Rows that the page has no room for."""


def time_rows(found: Sequence[Row], cases: Mapping[tuple[Any, ...], Case], names: DisplayNames) -> list[TimeRow]:
    """Of the expectations table; claims that fail nothing stand elsewhere."""
    decisive = [row for row in found if row["kind"] != "claim" or row["failed"]]
    formulas: dict[tuple[str, str], dict[str, int]] = {}
    places: dict[tuple[str, str], int] = {}
    rows = []
    for row in sorted(decisive, key=lambda row: (row["unit"] != "s", row["line"] or 0)):
        group = (row["scenario"], names.of(row))
        known = formulas.setdefault(group, {})
        place = places.setdefault(group, len(places) + 1)
        more = row["source"] or row["formula"] not in bound_text(row["kind"], row["formula"], row["bound"])
        reference = known.setdefault(row["formula"], len(known) + 1) if more else 0
        case = cases[key_of(row)]
        rows.append(
            TimeRow(
                row=row,
                verdict=verdict_of_row(row),
                client=group[1],
                fault=case.fault,
                replay=replay_command(case.worst_run["run_id"], case.folder),
                strip=strip_of(row),
                off=off_of(row),
                reference=reference,
                anchor=f"formula-{place}-{reference}",
                case=parameters_of(row["case"]),
                error=case.error_of(str(row["measure"]).partition(".")[0])[:MAX_SEARCHED],
            )
        )
    return rows


def unjudged_rows(timeouts: Sequence[Row], cases: Mapping[tuple[Any, ...], Case], names: DisplayNames) -> list[TimeRow]:
    """Measures that nothing was expected of; of the waits on each setting only what somebody asked for is one."""
    rows = [row for row in timeouts if verdict_of_row(row) == "unjudged" and "(" not in row["measure"]]
    return [
        TimeRow(
            row=row,
            verdict="unjudged",
            client=names.of(row),
            fault=cases[key_of(row)].fault,
            replay="",
            strip=None,
            off=None,
            reference=0,
            anchor="",
            case=parameters_of(row["case"]),
        )
        for row in sorted(rows, key=lambda row: row["unit"] != "s")
    ]


def off_of(row: Row) -> float | None:
    if row["min"] is None:
        return None
    return farthest_off(row["kind"], row["predicted"], row["low"], row["high"], row["min"], row["max"])


@cache
def parameters_of(case: str) -> tuple[tuple[str, str], ...]:
    """`Retry.Max=1, bootstrap=[1, 2]` as pairs: a comma ends a parameter only where a next one begins."""
    parts = re.split(r", (?=[^\s=,]+=)", case) if case else []
    return tuple((name, value) for name, _, value in (part.partition("=") for part in parts))


def scenarios_of(rows: Sequence[TimeRow], cases: Mapping[tuple[Any, ...], Case]) -> Truncated[Scenario]:
    """Scenarios with failures first, then those that tested nothing; within one, times before counts. As many as the
    page has room for."""
    together = grouped(rows, lambda row: (row.row["scenario"], row.client))
    made = [scenario_of(own, cases) for own in together.values()]
    too_many = len(rows) > MAX_ROWS
    made.sort(
        key=lambda one: (
            SEVERITY_ORDER.index(one.verdict),
            tuple(-part for part in one.largest_distance) if too_many else (0.0, 0.0),
            one.name,
            one.client,
        )
    )
    room, shown = MAX_ROWS, []
    for one in made:
        if room <= 0:
            break
        left_out = max(0, len(one.rows) - room)
        shown.append(replace(one, rows=one.rows[:room], left_out=left_out) if left_out else one)
        room -= len(one.rows) + 1
    return truncate([*shown, *made[len(shown) :]], len(shown), "report/expectations.parquet")


def scenario_of(own: Sequence[TimeRow], cases: Mapping[tuple[Any, ...], Case]) -> Scenario:
    own = group_by_case(own)
    with_formula = sorted((one for one in own if one.reference), key=lambda one: one.reference)
    formulas = {one.anchor: (one.anchor, one.row["formula"], one.row["source"] or "") for one in with_formula}
    keys = {key_of(one.row) for one in own}
    times = [one.row for one in own if one.row["unit"] == "s" and one.row["median"] is not None]
    return Scenario(
        name=own[0].row["scenario"],
        about=own[0].row["about"] or "",
        client=own[0].client,
        verdict=worst_verdict(cases[key].verdict for key in keys),
        rows=tuple(own),
        formulas=tuple(formulas.values()),
        strip=overview_of([one.strip for one in own if one.strip]),
        span=span_of(times),
        cases=len(keys),
        longest_s=max((row["median"] for row in times), default=None),
        largest_distance=max(one.distance for one in own),
        settings=settings_text(cases[key_of(own[0].row)])[:MAX_SETTINGS],
    )


def settings_text(case: Case) -> str:
    """`Net.DialTimeout 1s, Net.ReadTimeout 2s`."""
    return ", ".join(f"{one['name']} {one['text']}" for one in case.first["settings"] or [])


def span_of(times: Sequence[Row]) -> str:
    """`2.00 s`, `2.00 s to 18.85 s`."""
    if not times:
        return ""
    low, high = (pick(times, key=lambda row: row["median"]) for pick in (min, max))
    first, last = (figures.short(row["median"], at_least=bool(row["median_is_bound"])) for row in (low, high))
    return first if first == last else f"{first} to {last}"


def group_by_case(rows: Sequence[TimeRow]) -> list[TimeRow]:
    """A case's expectations below each other, the violated first, the farthest off first of these; failed cases
    first."""
    together = grouped(rows, lambda row: key_of(row.row))
    ordered: list[TimeRow] = []
    for own in sorted(together.values(), key=lambda own: min(rank(one.verdict) for one in own)):
        own.sort(key=lambda one: (rank(one.verdict), *by_distance(one), one.row["unit"] != "s", one.row["line"] or 0))
        ordered += [replace(one, again=index > 0) for index, one in enumerate(own)]
    return ordered


def by_distance(one: TimeRow) -> tuple[float, float]:
    """What sorts violated rows, the farthest off first; of others nothing."""
    seconds, share = one.distance if one.verdict == "fail" else (0.0, 0.0)
    return -seconds, -share


def rank(verdict: str) -> int:
    return SEVERITY_ORDER.index(verdict) if verdict in SEVERITY_ORDER else len(SEVERITY_ORDER)
