"""Everything that the page shows, in its order, ready to be written down: no template computes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.records.manifest import Manifest
from reports.charts.timeline import Timeline
from reports.pages import summary
from reports.pages.cases import Case, Row, cases_of, key_of
from reports.pages.choice import Choice
from reports.pages.claims import Claim, claims_of
from reports.pages.times import Scenario, TimeRow, scenarios_of, time_rows
from reports.pages.verdicts import GRAVEST_FIRST
from reports.pages.waits import WaitRow, waits_of

Tables = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """A case that is not a pass: what is wrong, and how to see it again."""

    case: Case
    rows: tuple[TimeRow, ...]
    replay: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    headline: str
    lead: str
    facts: str
    counts: tuple[tuple[str, str, int], ...]
    attention: tuple[Attention, ...]
    scenarios: tuple[Scenario, ...]
    unjudged: tuple[TimeRow, ...]
    claims: tuple[Claim, ...]
    timelines: tuple[tuple[Choice, Timeline], ...]
    waits: tuple[tuple[str, tuple[WaitRow, ...]], ...]
    runs: tuple[Row, ...]
    environment: tuple[tuple[str, str], ...]
    quarantined: tuple[Row, ...]


def page_of(
    tables: Tables,
    manifests: Sequence[Manifest],
    quarantined: Sequence[Row],
    timelines: Sequence[tuple[Choice, Timeline]],
) -> Page:
    cases = cases_of(tables["runs"])
    rows = time_rows(tables["timeouts"])
    judged = tuple(row for row in rows if row.verdict != "unjudged")
    claims = claims_of(tables["claims"])
    return Page(
        headline=summary.headline(cases.values()),
        lead=summary.lead(judged, claims),
        facts=summary.facts(tables["runs"], manifests),
        counts=summary.counts(cases.values()),
        attention=attention(cases, judged),
        scenarios=scenarios_of(judged, cases),
        unjudged=tuple(row for row in rows if row.verdict == "unjudged" and "(" not in row.what),
        claims=claims,
        timelines=tuple(timelines),
        waits=waits_of(tables["waits"], tables["timeouts"]),
        runs=tuple(tables["runs"]),
        environment=summary.environment(tables["runs"], manifests),
        quarantined=tuple(quarantined),
    )


def attention(cases: Mapping[tuple[Any, ...], Case], rows: Sequence[TimeRow]) -> tuple[Attention, ...]:
    """Cases that did not pass, the gravest first, each with the rows that are to blame."""
    found = [
        Attention(
            case=case,
            rows=tuple(row for row in rows if key_of(row.row) == key and row.verdict in ("fail", "inconclusive")),
            replay=f"faultlab replay {case.gravest_run['run_id']}",
        )
        for key, case in cases.items()
        if case.verdict not in ("pass", "skipped")
    ]
    return tuple(sorted(found, key=lambda one: GRAVEST_FIRST.index(one.case.verdict)))
