"""Availability: how long a fault was felt beside how long it lasted, and how soon clients worked after its healing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from reports import figures
from reports.charts.curve import IMMEDIATE_S, Curve, Curves, axis_end_s, curve_of
from reports.pages.cases import DisplayNames, Row
from reports.pages.times import parameters_of
from reports.pages.truncate import Truncated, truncate

MAX_SHOWN = 60
OUTLIER_FACTOR = 6
"""Times the median: what is longer than that leaves the axis."""
HALF, MOSTLY = 0.5, 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """One case: the fault lasted `dark`, and its effects lasted `felt`; both as text, and as per cent of the axis.
    `beyond`: longer than the axis, so its bar is squeezed."""

    row: Row
    client: str
    fault: str
    verdict: str
    case: tuple[tuple[str, str], ...]
    dark: str
    felt: str
    felt_s: float
    recovery: str
    spread: str
    dark_share: float
    felt_share: float
    beyond: bool
    unended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRow:
    """A line of a panel, as figures."""

    client: str
    cases: int
    runs: int
    at_once: str
    half: str
    mostly: str
    every: str
    unended: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """The curves of one kind of fault."""

    fault: str
    picture: Curves
    rows: tuple[CurveRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """`quick` counts the cases that worked again as soon as the fault was gone: they are counted, not drawn."""

    finding: str
    outages: Truncated[Outage]
    axis_s: float
    panels: tuple[Panel, ...]
    quick: int
    cases: int


def recovery_of(rows: Sequence[Row], names: DisplayNames) -> Recovery | None:
    """None where no fault was healed."""
    recovered = [row for row in rows if row["what"] == "recovery" and row["pairs"]]
    if not recovered:
        return None
    slow = [row for row in recovered if row["max"] >= IMMEDIATE_S]
    felt = {recovery_key(row): row for row in rows if row["what"] == "outage" and row["pairs"]}
    pairs = [(row, felt[recovery_key(row)]) for row in slow if recovery_key(row) in felt]
    pairs.sort(key=lambda pair: (not pair[0]["censored"], -pair[0]["max"]))
    axis_s = axis_length_s([outage["median"] for _, outage in pairs])
    return Recovery(
        finding=finding(recovered, slow),
        outages=truncate((outage_of(*pair, axis_s, names) for pair in pairs), MAX_SHOWN, "report/recovery.parquet"),
        axis_s=axis_s,
        panels=tuple(panels_of(slow, names)),
        quick=len(recovered) - len(slow),
        cases=len(recovered),
    )


def axis_length_s(felt_s: Sequence[float]) -> float:
    """The longest time that is not an outlier: a single one must not make the others invisible."""
    if not felt_s:
        return 1.0
    ordinary = OUTLIER_FACTOR * sorted(felt_s)[len(felt_s) // 2]
    return max(one for one in felt_s if one <= ordinary)


def recovery_key(row: Row) -> tuple[Any, ...]:
    return tuple(
        row[name] for name in ("scenario", "environment", "client", "client_version", "driver", "case", "alias")
    )


def finding(recovered: Sequence[Row], slow: Sequence[Row]) -> str:
    quick = len(recovered) - len(slow)
    first = f"{quick or 'None'} of {figures.many(len(recovered), 'case')} worked as soon as the fault was gone"
    if not slow:
        return first + "."
    worst = max(slow, key=lambda row: row["max"])
    never = sum(bool(row["censored"]) for row in slow)
    told_never = (
        f"; in {figures.many(never, 'case')} some runs never worked again while the lab looked" if never else ""
    )
    long = figures.short(worst["max"], at_least=bool(worst["censored"]))
    return f"{first}; the slowest needed {long} more ({worst['scenario']}){told_never}."


def outage_of(recovery: Row, outage: Row, axis_s: float, names: DisplayNames) -> Outage:
    dark_s = min(outage["dark_s"] or 0.0, outage["median"])
    return Outage(
        row=recovery,
        client=names.of(recovery),
        fault=names.fault(recovery),
        verdict=names.verdict(recovery),
        case=parameters_of(recovery["case"]),
        dark=figures.amount(outage["dark_s"], "s"),
        felt=figures.measured(outage),
        felt_s=outage["median"],
        recovery=figures.measured(recovery),
        spread=figures.spread(recovery),
        dark_share=round(100 * dark_s / max(axis_s, outage["median"]), 2),
        felt_share=round(100 * (outage["median"] - dark_s) / max(axis_s, outage["median"]), 2),
        beyond=outage["median"] > axis_s,
        unended=bool(outage["median_is_bound"]),
    )


def panels_of(slow: Iterable[Row], names: DisplayNames) -> Iterable[Panel]:
    together: dict[str, dict[str, list[Row]]] = {}
    for row in slow:
        together.setdefault(row["fault"], {}).setdefault(names.of(row), []).append(row)
    drawn = {
        fault: {client: curve_of(observations(rows)) for client, rows in own.items()} for fault, own in together.items()
    }
    last_s = axis_end_s([curve for own in drawn.values() for curve in own.values()])
    for fault, curves in sorted(drawn.items()):
        rows = tuple(curve_row(client, together[fault][client], curve) for client, curve in sorted(curves.items()))
        words = f"Share recovered after {fault}: " + "; ".join(f"{one.client} half by {one.half}" for one in rows)
        yield Panel(fault=fault, picture=Curves(tuple(sorted(curves.items())), last_s, words), rows=rows)


def observations(rows: Iterable[Row]) -> list[tuple[float, bool]]:
    return [(pair["time"], pair["unended"]) for row in rows for pair in row["pairs"]]


def curve_row(client: str, rows: Sequence[Row], curve: Curve) -> CurveRow:
    pairs = observations(rows)

    def by(share: float) -> str:
        seconds = curve.time_of(share)
        return figures.amount(seconds, "s") if seconds is not None else "not seen"

    return CurveRow(
        client=client,
        cases=len(rows),
        runs=len(pairs),
        at_once=f"{100 * curve.share_at(IMMEDIATE_S):.0f} %",
        half=by(HALF),
        mostly=by(MOSTLY),
        every=by(1.0),
        unended=sum(unended for _, unended in pairs),
    )
