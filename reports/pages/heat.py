"""The heat map: how long callers hang, client by client and fault by fault, whether or not they should."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports import figures
from reports.charts.heat import shade_of
from reports.pages.cases import Case, DisplayNames, Row, key_of
from reports.pages.verdicts import worst_verdict

Cases = Mapping[tuple[Any, ...], Case]
ERROR = "time_to_error"
WAITS = (ERROR, "time_to_ack", "time_to_end")
NO_ERROR = "no error"
NO_SCENARIO = "no scenario here does it"
NO_WAITS_RECORDED = "No run here tells how long callers hang."


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatCell:
    """One client under one fault. `number` is the longest median of its cases, `shade` its colour (None: there is
    none). `ending` says what ended that wait; `cases` how many have the verdict, `2 of 6 cases`. `reason` is why it was
    not run; it has no verdict then."""

    client: str
    fault: str
    number: str = ""
    shade: int | None = None
    ending: str = ""
    verdict: str = ""
    cases: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    faults: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    longest: str
    finding: str


def heat_of(cases: Cases, timeouts: Sequence[Row], names: DisplayNames) -> Heat:
    """Clients by name and release; faults from the one that hangs longest on."""
    waits = waits_by_case(timeouts)
    together: dict[tuple[str, str], list[tuple[Case, Row | None]]] = {}
    for key, case in cases.items():
        together.setdefault((names.of(case.first), case.fault), []).append((case, waits.get(key)))
    cells = {place: cell_of(*place, own) for place, own in together.items()}
    longest: dict[str, tuple[float, bool]] = {fault: (0.0, False) for _, fault in cells}
    for (_, fault), own in together.items():
        medians = [(row["median"], bool(row["median_is_bound"])) for _, row in own if row and is_time_to_error(row)]
        longest[fault] = max([longest[fault], *medians])
    faults = sorted(longest, key=lambda fault: (-longest[fault][0], fault))
    clients = sorted({client for client, _ in cells}, key=natural_sort_key)
    return Heat(
        faults=tuple(faults),
        rows=tuple(
            (
                client,
                tuple(
                    cells.get((client, fault)) or HeatCell(client=client, fault=fault, reason=NO_SCENARIO)
                    for fault in faults
                ),
            )
            for client in clients
        ),
        longest=longest_wait(cases, timeouts, names),
        finding=finding(longest) if waits else NO_WAITS_RECORDED,
    )


def waits_by_case(timeouts: Iterable[Row]) -> dict[tuple[Any, ...], Row]:
    """Each case's longest wait of a caller for its error; where none came, for whatever came."""
    longest: dict[tuple[Any, ...], Row] = {}
    for row in timeouts:
        if what_of(row) not in WAITS or row["median"] is None:
            continue
        known = longest.get(key_of(row))
        if known is None or weight(row) > weight(known):
            longest[key_of(row)] = row
    return longest


def what_of(row: Row) -> str:
    return str(row["measure"]).partition(".")[2]


def weight(row: Row) -> tuple[bool, float]:
    return is_time_to_error(row), row["median"]


def is_time_to_error(row: Row) -> bool:
    return what_of(row) == ERROR


def cell_of(client: str, fault: str, own: Sequence[tuple[Case, Row | None]]) -> HeatCell:
    verdict = worst_verdict(case.verdict for case, _ in own)
    if verdict == "skipped":
        reason = next((text for case, _ in own for text in case.reasons), "skipped")
        return HeatCell(client=client, fault=fault, reason=reason)
    row = max((row for _, row in own if row), key=weight, default=None)
    alike = sum(case.verdict == verdict for case, _ in own)
    tally = f"{alike} of {figures.many(len(own), 'case')}" if alike < len(own) else figures.many(alike, "case")
    if row is None:
        return HeatCell(client=client, fault=fault, verdict=verdict, cases=tally, number=figures.NO_VALUE)
    return HeatCell(
        client=client,
        fault=fault,
        number=figures.short(row["median"], at_least=bool(row["median_is_bound"])),
        shade=shade_of(row["median"]),
        ending="" if is_time_to_error(row) else NO_ERROR,
        verdict=verdict,
        cases=tally,
    )


def longest_wait(cases: Cases, timeouts: Iterable[Row], names: DisplayNames) -> str:
    """That of the worst single run, in one sentence; nothing where no run tested anything."""
    ended = [row for row in timeouts if what_of(row) in WAITS and row["max"] is not None]
    failed = [row for row in ended if is_time_to_error(row)]
    if not failed:
        return "No call came back with an error." if ended else ""
    row = max(failed, key=lambda row: (row["max"], last_unended(row)))
    long = figures.bound(row["max"], "s", at_least=last_unended(row))
    return f"The longest wait for an error was {long}: {names.of(row)}, {cases[key_of(row)].fault}."


def last_unended(row: Row) -> bool:
    """Whether its longest time is a lower bound."""
    return any(pair["unended"] and pair["time"] >= row["max"] for pair in row["pairs"])


def finding(longest: Mapping[str, tuple[float, bool]]) -> str:
    """The picture in one sentence; `longest` are the seconds of each fault, and whether they are only a lower bound."""
    failing = {fault: wait for fault, wait in longest.items() if wait[0] > 0}
    if not failing:
        return "No call came back with an error in these runs: the times are those until an answer."
    worst, least = max(failing, key=lambda one: failing[one]), min(failing, key=lambda one: failing[one])
    up, down = (figures.short(seconds, at_least=is_bound) for seconds, is_bound in (failing[worst], failing[least]))
    first = f"Callers hang longest under {worst}: {up} in the median"
    return f"{first}." if worst == least else f"{first}; shortest under {least}: {down}."


def natural_sort_key(name: str) -> list[tuple[int, str]]:
    """`1.9.0` before `1.10.0`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
