"""Everything that the page shows, in its order, ready to be written down: no template computes."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.records.manifest import Manifest
from reports import figures
from reports.charts.letters import Badge, badges
from reports.charts.strip import Strip, strip_of
from reports.charts.timeline import Timeline
from reports.pages.cases import KEY, Case, Row, cases_of, key_of
from reports.pages.choice import Choice
from reports.pages.verdicts import GRAVEST_FIRST, WORDS, of_outcomes

Tables = Mapping[str, Sequence[Row]]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One formula from somebody's text, over all cases that it speaks about."""

    scenario: str
    formula: str
    name: str
    when: str
    source: str
    measure: str
    verdict: str
    as_declared: bool | None
    rows: tuple[tuple[Row, Strip | None, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """A case that is not a pass: what is wrong, and how to see it again."""

    case: Case
    rows: tuple[TimeRow, ...]
    replay: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitRow:
    """What a case waited for on one setting, beside what its formula says."""

    row: Row
    badge: Badge
    formula_count: float | None
    formula_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    headline: str
    lead: str
    facts: str
    verdict: str
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
        headline=headline(cases.values()),
        lead=lead(judged, claims),
        facts=facts(tables["runs"], manifests),
        verdict=gravest_of(cases.values()),
        counts=counts(cases.values()),
        attention=attention(cases, judged),
        scenarios=scenarios_of(judged, cases),
        unjudged=tuple(row for row in rows if row.verdict == "unjudged"),
        claims=claims,
        timelines=tuple(timelines),
        waits=waits_of(tables["waits"], tables["timeouts"]),
        runs=tuple(tables["runs"]),
        environment=environment(tables["runs"], manifests),
        quarantined=tuple(quarantined),
    )


def headline(cases: Sequence[Case] | Any) -> str:
    """The result in one sentence."""
    told = Counter(case.verdict for case in cases)
    total = sum(told.values())
    if told["pass"] == total:
        return "The one case held." if total == 1 else f"All {total} cases held."
    failed = told["fail"]
    first = f"{failed} of {total} cases failed" if failed else f"{told['pass']} of {total} cases held"
    rest = [
        f"{told[verdict]} {words}"
        for verdict, words in (
            ("lab_error", "met an error of the lab"),
            ("inconclusive", "tested nothing"),
            ("skipped", "skipped"),
        )
        if told[verdict]
    ]
    return "; ".join([first, *rest]) + "."


def lead(rows: Sequence[TimeRow], claims: Sequence[Claim]) -> str:
    """What was found, beyond verdicts: how long clients hung, and what became of the claims."""
    times = [row.row for row in rows if row.what == "time to error" and row.row["median"] is not None]
    sentences = []
    if times:
        shortest, longest = (pick(times, key=lambda row: row["median"]) for pick in (min, max))
        low, high = figures.measured(shortest), figures.measured(longest).replace("\u2265", "at least")
        span = low if low == high else f"between {low} and {high}"
        sentences.append(f"From the call until its error, a client waited {span}.")
    for verdict in ("refuted", "held", "mixed", "inconclusive"):
        own = [claim for claim in claims if claim.verdict == verdict]
        if own:
            words = {"mixed": "holds in some runs only", "inconclusive": "could not be judged"}.get(verdict, verdict)
            against = sum(claim.as_declared is False for claim in own)
            told = "against what was declared" if against else "as declared" if all(c.as_declared for c in own) else ""
            sentences.append(f"{figures.many(len(own), 'claim')} {words}{', ' + told if told else ''}.")
    return " ".join(sentences)


def facts(runs: Sequence[Row], manifests: Sequence[Manifest]) -> str:
    scenarios = len({run["scenario"] for run in runs})
    environments = " and ".join(sorted({run["environment"] for run in runs}))
    began = min((run["started_at"] for run in runs), default="")
    parts = [
        figures.many(len(runs), "run"),
        f"{figures.many(scenarios, 'scenario')} on {environments}",
        figures.day(manifests[0].started_at if manifests else began),
    ]
    return " \u00b7 ".join(part for part in parts if part)


def gravest_of(cases: Any) -> str:
    told = {case.verdict for case in cases}
    return next((verdict for verdict in GRAVEST_FIRST if verdict in told), "skipped")


def counts(cases: Any) -> tuple[tuple[str, str, int], ...]:
    told = Counter(case.verdict for case in cases)
    return tuple((verdict, WORDS[verdict], told[verdict]) for verdict in GRAVEST_FIRST if told[verdict])


def time_rows(timeouts: Sequence[Row]) -> list[TimeRow]:
    longest = max((row["median"] for row in timeouts if row["unit"] == "s" and row["median"]), default=0.0)
    numbers: dict[tuple[str, str, str], dict[str, int]] = {}
    rows = []
    for row in sorted(timeouts, key=lambda row: row["unit"] != "s"):
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
                verdict=gravest_of([cases[key_of(one.row)] for one in own]),
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
        own.sort(key=lambda one: one.row["unit"] != "s")
        ordered += [replace(one, again=index > 0) for index, one in enumerate(own)]
    return ordered


def claims_of(rows: Sequence[Row]) -> tuple[Claim, ...]:
    together: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        together.setdefault((row["scenario"], row["measure"], row["formula"], row["line"]), []).append(row)
    claims = []
    for own in together.values():
        verdicts = {row["verdict"] for row in own} - {"inconclusive"} or {"inconclusive"}
        declared = [row["as_declared"] for row in own if row["as_declared"] is not None]
        claims.append(
            Claim(
                scenario=own[0]["scenario"],
                formula=own[0]["formula"],
                name=own[0]["name"] or "",
                when=own[0]["when"] or "",
                source=own[0]["source"] or "",
                measure=own[0]["measure"],
                verdict=verdicts.pop() if len(verdicts) == 1 else "mixed",
                as_declared=all(declared) if declared else None,
                rows=tuple((row, strip_of(row), off_by(row)) for row in own),
            )
        )
    return tuple(claims)


def off_by(row: Row) -> str:
    """How far the claim is off, measured from what it says."""
    if row["median"] is None or row["predicted"] is None:
        return ""
    return figures.difference(row["median"] - row["predicted"], row["unit"])


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


def waits_of(waits: Sequence[Row], timeouts: Sequence[Row]) -> tuple[tuple[str, tuple[WaitRow, ...]], ...]:
    """The waits table with its cases' formulas beside it, by case and operation."""
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
    return tuple((title_of(key), tuple(own)) for key, own in together.items())


def title_of(key: tuple[Any, ...]) -> str:
    named = dict(zip((*KEY, "operation"), key, strict=True))
    case = f", {named['case']}" if named["case"] else ""
    return f"{named['scenario']}{case}, {named['client']} {named['client_version']}, {named['environment']}"


def environment(runs: Sequence[Row], manifests: Sequence[Manifest]) -> tuple[tuple[str, str], ...]:
    """What the times depend on, and how quiet the machine was."""
    lags = [run["noise"]["loop_lag_p99_s"] for run in runs]
    kernels = sorted({f"{run['kernel']['release']}, timer {run['kernel']['hz']} Hz" for run in runs})
    pinned = sorted({f"{value['name']} = {value['text']}" for run in runs for value in run["kernel"]["sysctls"] or []})
    again = sum(run["attempt"] > 1 for run in runs)
    told = [
        ("Machine", "; ".join(sorted({one.machine for one in manifests}))),
        ("faultlab", "; ".join(sorted({one.faultlab for one in manifests}))),
        ("Seed", ", ".join(sorted({str(run["seed"]) for run in runs}))),
        ("Kernel", "; ".join(kernels)),
        ("Pinned settings of the kernel", "; ".join(pinned)),
        ("Noise", f"timers came at most {1e3 * max(lags):.1f} ms late in 99 of 100 cases (worst run)" if lags else ""),
        ("Tried again after noise", figures.many(again, "run") if again else "no run"),
    ]
    return tuple((name, text) for name, text in told if text)
