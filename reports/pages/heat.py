"""The heat map: how long callers hang, client by client and fault by fault, whether or not they should."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports import figures
from reports.charts.heat import shade_of
from reports.grouping import grouped
from reports.pages.cases import Case, DisplayNames, Row, key_of
from reports.pages.causes import MIN_COVERED, Cause, Causes
from reports.pages.times import parameters_of
from reports.pages.verdicts import worst_verdict

Cases = Mapping[tuple[Any, ...], Case]
ERROR = "time_to_error"
WAITS = (ERROR, "time_to_ack", "time_to_end")
NO_ERROR = "no error"
NO_SCENARIO = "no scenario here does it"
NO_ERROR_CAME = "No call came back with an error."
HOT_S = 1.0
"""A cell from so many seconds on names the setting that took most of them."""
NO_WAITS_RECORDED = "No run here shows how long callers hang."


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatCell:
    """One client under one fault. `number` is the longest median of the cases that all releases of the client ran,
    `shade` its colour (None: there is none), `cause` the setting that took most of it. `apart`: no other release ran
    any of its cases, so that the number compares with none. `beyond` is a longer wait in cases that others did not run.
    `ending` says what ended that wait; `cases` how many have the verdict, `2 of 6 cases`. `reason` is why it was not
    run; it has no verdict then."""

    client: str
    fault: str
    number: str = ""
    shade: int | None = None
    cause: str = ""
    apart: bool = False
    beyond: str = ""
    ending: str = ""
    verdict: str = ""
    cases: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongestHang:
    """The longest single wait for an error: how long, which settings took it (empty where that is not known), where."""

    long: str
    causes: tuple[Cause, ...]
    where: str
    scenario: str

    @property
    def sentence(self) -> str:
        """`Longest hang 18.880 s: 14 x Net.DialTimeout (1 s). sarama 1.27.2, blackhole (its-scenario).`"""
        cause = f": {' + '.join(one.words for one in self.causes)}" if self.causes else ""
        return f"Longest hang {self.long}{cause}. {self.where}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """`longest` is None where no call came back with an error; `no_error` says so where calls came back at all."""

    faults: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    longest: LongestHang | None
    no_error: str
    finding: str
    some_apart: bool


Timed = tuple[Case, Row | None]
"""A case, and the row of its longest wait."""


def heat_of(cases: Cases, timeouts: Sequence[Row], names: DisplayNames, causes: Causes) -> Heat:
    """Clients by name and release; faults from the one that hangs longest on."""
    waits = waits_by_case(timeouts)
    together: dict[tuple[str, str], list[Timed]] = {}
    for key, case in cases.items():
        together.setdefault((names.of(case.first), case.fault), []).append((case, waits.get(key)))
    shared = shared_cases(together)
    cells = {place: cell_of(*place, own, shared[place], causes) for place, own in together.items()}
    longest: dict[str, tuple[float, bool]] = {fault: (0.0, False) for _, fault in cells}
    for (_, fault), own in together.items():
        medians = [(row["median"], bool(row["median_is_bound"])) for _, row in own if row and is_time_to_error(row)]
        longest[fault] = max([longest[fault], *medians])
    faults = sorted(longest, key=lambda fault: (-longest[fault][0], fault))
    clients = sorted({client for client, _ in cells}, key=natural_sort_key)
    ended = [row for row in timeouts if what_of(row) in WAITS and row["max"] is not None]
    hang = longest_hang(cases, ended, names, causes)
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
        longest=hang,
        no_error=NO_ERROR_CAME if ended and hang is None else "",
        finding=finding(longest) if waits else NO_WAITS_RECORDED,
        some_apart=any(cell.apart for cell in cells.values()),
    )


def identity_of(case: Case) -> tuple[Any, ...]:
    """What a case is but for the client's release: two releases compare where it is the same."""
    parameters = tuple(pair for pair in parameters_of(case.first["case"]) if pair[0] != "version")
    return (case.first["scenario"], case.first["brokers"], parameters)


def shared_cases(together: Mapping[tuple[str, str], Sequence[Timed]]) -> dict[tuple[str, str], set[tuple[Any, ...]]]:
    """Of each cell, the cases that every release of its client ran under that fault: only these compare."""
    ran = {place: {identity_of(case) for case, row in own if row is not None} for place, own in together.items()}
    releases = grouped(together, lambda place: (*family_of(together[place][0][0]), place[1]))
    shared = {}
    for places in releases.values():
        timed = [ran[place] for place in places if ran[place]]
        alike = set.intersection(*timed) if timed else set()
        shared.update(dict.fromkeys(places, alike))
    return shared


def family_of(case: Case) -> tuple[str, str, str]:
    """The client without its release, run in the same way."""
    return case.first["client"], case.first["driver"], case.first["environment"]


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


def cell_of(client: str, fault: str, own: Sequence[Timed], shared: set[tuple[Any, ...]], causes: Causes) -> HeatCell:
    verdict = worst_verdict(case.verdict for case, _ in own)
    if verdict == "skipped":
        reason = next((text for case, _ in own for text in case.reasons), "skipped")
        return HeatCell(client=client, fault=fault, reason=reason)
    alike = sum(case.verdict == verdict for case, _ in own)
    tally = f"{alike} of {figures.many(len(own), 'case')}" if alike < len(own) else figures.many(alike, "case")
    timed = [(case, row) for case, row in own if row is not None]
    if not timed:
        return HeatCell(client=client, fault=fault, verdict=verdict, cases=tally, number=figures.NO_VALUE)
    compared = [row for case, row in timed if identity_of(case) in shared]
    row = max(compared or [row for _, row in timed], key=weight)
    alone = max((row for case, row in timed if identity_of(case) not in shared), key=weight, default=row)
    cause = next(iter(causes.of(row)), None) if row["median"] >= HOT_S else None
    return HeatCell(
        client=client,
        fault=fault,
        number=time_text(row),
        shade=shade_of(row["median"]),
        cause=cause.words if cause else "",
        apart=not compared,
        beyond=time_text(alone) if compared and weight(alone) > weight(row) else "",
        ending="" if is_time_to_error(row) else NO_ERROR,
        verdict=verdict,
        cases=tally,
    )


def time_text(row: Row) -> str:
    return figures.short(row["median"], at_least=bool(row["median_is_bound"]))


def longest_hang(cases: Cases, ended: Iterable[Row], names: DisplayNames, causes: Causes) -> LongestHang | None:
    """That of the worst single run; None where no call came back with an error."""
    failed = [row for row in ended if is_time_to_error(row)]
    if not failed:
        return None
    row = max(failed, key=lambda row: (row["max"], last_unended(row)))
    case = cases[key_of(row)]
    return LongestHang(
        long=figures.bound(row["max"], "s", at_least=last_unended(row)),
        causes=causes.of(row) if row["median"] >= MIN_COVERED * row["max"] else (),
        where=f"{names.of(row)}, {case.fault} ({row['scenario']})",
        scenario=row["scenario"],
    )


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
    first = f"Callers hang longest under {worst}: {up} in its slowest case"
    return f"{first}." if worst == least else f"{first}; shortest under {least}: {down}."


def natural_sort_key(name: str) -> list[tuple[int, str]]:
    """`1.9.0` before `1.10.0`."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
