"""Agreement: whether the profiles, the simulation and the real clients show the same; disagreements first."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports import figures
from reports.charts.compare import ComparisonChart, SideMarks, axis_reach
from reports.pages.cases import Row
from reports.pages.times import parameters_of
from reports.pages.truncate import Truncated, truncate

ORDER = ("differs", "explained", "agrees")
"""Groups with a table, the worst first: of too few runs there is nothing to look at."""
WORDS: Mapping[str, str] = {
    "differs": "differs",
    "explained": "explained",
    "agrees": "agrees",
}
SIDES: Mapping[str, str] = {"real": "real client", "profile": "profile", "sim": "simulation"}
MAX_SHOWN = {"differs": 100, "explained": 60, "agrees": 80}
TOO_FEW = "unsure"
"""The outcome of a measure that has too few runs."""
MAX_PATHS = 4
"""Scenarios that a command names; of more it runs all."""
MOST = 120
"""What `faultlab agree` makes a side by itself where runs are too few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRow:
    """What one side showed, and how it compares: `against` is empty for the reference."""

    side: str
    name: str
    found: str
    runs: str
    against: str
    outcome: str
    note: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRow:
    row: Row
    client: str
    case: tuple[tuple[str, str], ...]
    what: str
    predicted: str
    bound: str
    picture: ComparisonChart | None
    sides: tuple[SideRow, ...]
    outcome: str

    @property
    def standing(self) -> str:
        """The verdict that it adds to the page's filters."""
        return "fail" if self.outcome == "differs" else "pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreements:
    """`groups` by outcome, the worst first; `reach` is what the axis shows on each side, in per cent. `too_few` is a
    sentence about the measures that have too few runs, and `command` makes more."""

    groups: tuple[tuple[str, str, Truncated[AgreementRow]], ...]
    reach: float
    finding: str
    too_few: str
    command: str


def agreements_of(rows: Sequence[Row]) -> Agreements | None:
    """None where nothing was compared."""
    if not rows:
        return None
    marked = [(row, marks_of(row)) for row in rows if row["outcome"] != TOO_FEW]
    reach = axis_reach(one.middle for _, own in marked for one in own)
    made = [agreement_row(row, own, reach) for row, own in marked]
    made.sort(key=lambda one: -largest_deviation(one))
    groups = [
        (outcome, WORDS[outcome], truncate(own, MAX_SHOWN[outcome], "report/agreement.parquet"))
        for outcome in ORDER
        if (own := [one for one in made if one.outcome == outcome])
    ]
    too_few, command = too_few_runs([row for row in rows if row["outcome"] == TOO_FEW])
    return Agreements(
        groups=tuple(groups),
        reach=reach,
        finding=finding(Counter(row["outcome"] for row in rows)),
        too_few=too_few,
        command=command,
    )


def too_few_runs(unsure: Sequence[Row]) -> tuple[str, str]:
    """What these measures have in common, and the command that makes enough runs of their scenarios."""
    if not unsure:
        return "", ""
    compared = [one for row in unsure for one in row["compared"] or []]
    needed = max((one["needed"] or 0 for one in compared), default=0)
    runs = min((side["runs"] for row in unsure for side in row["sides"] or [] if side["runs"]), default=1)
    verb = "has" if len(unsure) == 1 else "have"
    enough = f"; {needed} a side would be enough" if needed else ""
    names = list(dict.fromkeys(row["path"] for row in unsure))
    paths = names if len(names) <= MAX_PATHS else []
    repeat = max(needed, 2 * runs)
    options = ["--repeat", str(repeat), "--most", str(max(repeat, MOST)), "--report"]
    command = shlex.join(["faultlab", "agree", *paths, *options])
    return f"{figures.many(len(unsure), 'measure')} {verb} too few runs to tell ({runs} a side{enough}).", command


def finding(counted: Counter[str]) -> str:
    total = counted.total()
    parts = [f"{counted['agrees']:,} of {figures.many(total, 'measure')} agree"]
    if counted["differs"]:
        parts.append(f"{counted['differs']:,} differ{'s' if counted['differs'] == 1 else ''}")
    if counted["explained"]:
        verb = "differs" if counted["explained"] == 1 else "differ"
        parts.append(f"{counted['explained']:,} {verb} for a reason that sources show")
    if counted[TOO_FEW]:
        parts.append(f"{counted[TOO_FEW]:,} {'has' if counted[TOO_FEW] == 1 else 'have'} too few runs")
    return "; ".join(parts) + "."


def marks_of(row: Row) -> tuple[SideMarks, ...]:
    """Each side relative to the prediction; where there is none, to the real client's median, or the first that has
    one. None where that is shorter than the differences that may be: any per cent of it would mislead."""
    measured = {side["side"]: side for side in row["sides"] or [] if side["median"] is not None}
    base = row["predicted"]
    if base is None:
        base = next((measured[side]["median"] for side in SIDES if side in measured), None)
    widest = max((one["bound"] for one in row["compared"] or []), default=0.0)
    if not base or base < widest or row["unit"] == "outcome":
        return ()
    return tuple(
        SideMarks(
            side,
            tuple(100 * (value - base) / base for value in measured[side]["values"] or [measured[side]["median"]]),
            100 * (measured[side]["median"] - base) / base,
        )
        for side in SIDES
        if side in measured
    )


def bounds_of(row: Row, marks: Sequence[SideMarks]) -> tuple[float, float] | None:
    """Around the reference's median, as far as the narrowest comparison allows."""
    base = row["predicted"] or next((s["median"] for s in row["sides"] if s["median"]), None)
    for compared in row["compared"] or []:
        reference = next((one.middle for one in marks if one.side == compared["reference"]), None)
        if reference is not None and base:
            off = 100 * compared["bound"] / base
            return reference - off, reference + off
    return None


def agreement_row(row: Row, marks: tuple[SideMarks, ...], reach: float) -> AgreementRow:
    sides = {side["side"]: side for side in row["sides"] or []}
    compared = {one["side"]: one for one in row["compared"] or []}
    rows = tuple(side_row(row, sides[name], compared.get(name)) for name in SIDES if name in sides)
    words = "; ".join(f"{one.name} {one.found}" for one in rows)
    return AgreementRow(
        row=row,
        client=f"{row['client']} {row['client_version']}",
        case=parameters_of(row["case"]),
        what=str(row["measure"]),
        predicted=figures.NO_VALUE if row["unit"] == "outcome" else figures.amount(row["predicted"], row["unit"]),
        bound=bound_of(row),
        picture=ComparisonChart(marks, bounds_of(row, marks), reach, words) if marks else None,
        sides=rows,
        outcome=row["outcome"],
    )


def side_row(row: Row, side: Row, compared: Row | None) -> SideRow:
    ended = f", {side['censored']} did not end" if side["censored"] else ""
    part = f"{side['measured']} of " if side["measured"] != side["runs"] else ""
    outcome = compared["outcome"] if compared else ""
    needed = f"needs about {compared['needed']} runs a side" if compared and compared["needed"] else ""
    notes = [
        by_chance(compared),
        needed,
        (compared or {}).get("reason") or "",
        "" if side["measured"] else side["silent"] or "",
    ]
    return SideRow(
        side=side["side"],
        name=SIDES[side["side"]],
        found=found_of(row, side),
        runs=f"{part}{figures.many(side['runs'], 'run')}{ended}",
        against=against(row, side, compared),
        outcome=outcome,
        note="; ".join(dict.fromkeys(note for note in notes if note)),
        source=(compared or {}).get("source") or "",
    )


def by_chance(compared: Row | None) -> str:
    """Of runs that go several ways, as where an order is drawn by chance: how differently often they go one."""
    if not compared or compared["share_difference"] is None:
        return ""
    off, most = (figures.amount(compared[name], "share") for name in ("share_difference", "share_bound"))
    return f"{compared['ways']} ways; how often runs went each differs by {off} (may be {most})"


def found_of(row: Row, side: Row) -> str:
    if row["unit"] != "outcome":
        return figures.amount(side["median"], row["unit"])
    return ", ".join(f"{one['word']} ({one['count']})" for one in side["outcomes"] or []) or figures.NO_VALUE


def against(row: Row, side: Row, compared: Row | None) -> str:
    """`+0.004 s (+0.001 to +0.008)`."""
    if compared is None:
        references = {one["reference"] for one in row["compared"] or []}
        return "the reference for others" if side["side"] in references else "not compared"
    if row["unit"] == "outcome" or compared["difference"] is None:
        return ""
    low, high = compared["interval_low"], compared["interval_high"]
    shift = figures.difference(compared["difference"], row["unit"])
    if low is None or high is None:
        return shift
    first, last = (figures.difference(one, row["unit"]).removesuffix(" s") for one in (low, high))
    return f"{shift} ({first} to {last})"


def bound_of(row: Row) -> str:
    """`agrees within ±0.052 s`: the widest of its comparisons, which are nearly the same."""
    bounds = [one["bound"] for one in row["compared"] or [] if one["difference"] is not None]
    return (
        f"agrees within \u00b1{figures.amount(max(bounds), row['unit'])}" if bounds and row["unit"] != "outcome" else ""
    )


def largest_deviation(one: AgreementRow) -> float:
    """How far the worst side is off, in its own bounds."""
    found: list[Any] = [
        abs(compared["difference"]) / (compared["bound"] or 1e-9)
        for compared in one.row["compared"] or []
        if compared["difference"] is not None
    ]
    return max(found, default=0.0)
