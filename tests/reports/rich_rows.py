"""Rows of tables for the page, made by hand for what no test suite has at once: agreement, recovery, many runs."""

from collections.abc import Iterable
from typing import Any

from bench.inputs.synthetic_suite import SyntheticBlackhole
from harness.records.agreement import AgreementRecord, SideComparison, SideResult
from harness.records.run import NamedValue
from reports.pages.cases import DisplayNames, cases_of
from reports.pages.causes import causes_of
from reports.pages.heat import Heat, heat_of

Row = dict[str, Any]

EXPLAINED = "Shopify/sarama v1.27.2 broker.go"


def agreement_row(
    outcome: str = "agrees",
    *,
    real: tuple[float, ...] = (8.851, 8.856, 8.861),
    profile: tuple[float, ...] = (8.853, 8.857, 8.859),
    predicted: float | None = 8.85,
    name: str = "sarama-blackhole-established",
    **changes: Any,
) -> Row:
    """As the agreement table gives it: a cell of which real client, profile and simulation ran three repeats each."""
    sides = (("real", real), ("profile", profile), ("sim", (8.85, 8.85, 8.85)))
    difference = sorted(profile)[1] - sorted(real)[1]
    compared = SideComparison(
        side="profile", reference="real", outcome=outcome, bound=0.09, level=0.001, difference=difference,
        interval_low=difference - 0.01, interval_high=difference + 0.01,
        needed=23 if outcome == "unsure" else None,
        reason="the profile dials once more" if outcome in ("differs", "explained") else None,
        source=EXPLAINED if outcome == "explained" else "",
    )  # fmt: skip
    record = AgreementRecord(
        scenario=name, path="a.scenario.yaml", client="sarama", client_version="1.27.2", brokers=1, fault="blackhole",
        parameters=(NamedValue(name="settings.Producer.Retry.Max", text="1", number=1),),
        measure="probe.time_to_error", unit="s", formula="2*Net.ReadTimeout", predicted=predicted,
        sides=tuple(
            SideResult(side=side, runs=3, measured=3, median=sorted(values)[1], values=tuple(sorted(values)))
            for side, values in sides
        ),
        compared=(compared,), outcome=outcome,
    )  # fmt: skip
    return {**record.model_dump(), "case": "Producer.Retry.Max=1", "suite": 0, **changes}


def outcome_row(outcome: str, real: str, profile: str) -> Row:
    """The same for a measure that is a word."""
    row = agreement_row(outcome, name="sarama-words")
    for side, word in zip(row["sides"], (real, profile, profile), strict=True):
        side.update(median=None, values=[], outcomes=[{"word": word, "count": 3}])
    return {**row, "measure": "probe.outcome", "unit": "outcome", "predicted": None}


def recovery_rows(
    times: list[tuple[float, bool]], *, dark_s: float = 1.0, fault: str = "blackhole", **changes: Any
) -> list[Row]:
    """Recovery and outage of one case; `times` are seconds since healing, and whether the lab gave up then."""
    ordered = sorted(times)
    common = {
        "scenario": "sarama-heal", "environment": "local", "client": "sarama", "client_version": "1.27.2",
        "driver": "bundled", "brokers": 1, "case": "Producer.Retry.Max=1", "alias": "outage", "fault": fault,
        "unit": "s", "n": len(times), "dark_s": dark_s, "missing": [],
        "censored": sum(unended for _, unended in ordered), **changes,
    }  # fmt: skip
    rows = []
    for what, more in (("recovery", 0.0), ("outage", dark_s)):
        pairs = [{"time": time + more, "unended": unended} for time, unended in ordered]
        middle = pairs[len(pairs) // 2]
        rows.append(
            {
                **common, "what": what, "measure": f"outage.{what}", "pairs": pairs, "median": middle["time"],
                "median_is_bound": middle["unended"], "min": pairs[0]["time"], "max": pairs[-1]["time"],
            }
        )  # fmt: skip
    return rows


def group_row(**changes: Any) -> Row:
    """As the groups table gives it: a share over 40 runs that are too few to tell."""
    told = {
        "scenario": "s", "environment": "local", "client": "sarama", "client_version": "1.27.2", "driver": "bundled",
        "brokers": 1, "case": "", "statistic": "share", "of": "probe.outcome == 'failed'", "q": None, "kind": "equals",
        "unit": "share", "predicted": 1 / 6, "low": 0.08, "high": 0.25, "estimate": 0.2, "interval_low": 0.12,
        "interval_high": 0.31, "measured": 40, "needed": 120, "verdict": "inconclusive", "outcome": "inconclusive",
        "reason": None, "line": 3, "path": "a.scenario.yaml", "name": "", "formula": "1/6", "bound": "",
    }  # fmt: skip
    return {**told, **changes}


def grown(tables: dict[str, list[Row]], *, runs: int) -> dict[str, list[Row]]:
    """The tables as if so many runs had been made: the same cases again under other names."""
    copies = -(-runs // len(tables["runs"]))
    return {
        name: [
            {**row, **({"scenario": f"{row['scenario']}-{copy}"} if "scenario" in row else {})}
            for copy in range(copies)
            for row in rows
        ]
        for name, rows in tables.items()
    }


def repeated(tables: dict[str, list[Row]], *, times: int) -> dict[str, list[Row]]:
    """The tables as if every case had so many times as many repeats."""
    more = {
        name: [{**row, "pairs": row["pairs"] * times, "n": row["n"] * times} for row in tables[name]]
        for name in ("timeouts", "expectations")
    }
    return {**tables, **more, "runs": tables["runs"] * times, "noise": tables["noise"] * times}


def run(**changes: object) -> Row:
    """A row of the runs table."""
    return {**SyntheticBlackhole().run(1)[0].model_dump(), "case": "", "suite": 0, **changes}


def waited(of: Row, seconds: float, *, what: str = "time_to_error", unended: bool = False) -> Row:
    """What the timeout table says of its probe."""
    names = ("scenario", "environment", "client", "client_version", "driver", "brokers", "case")
    row = {name: of[name] for name in names}
    pairs = [{"time": seconds, "unended": unended}]
    told = {"median": seconds, "median_is_bound": unended, "max": seconds, "pairs": pairs, "unit": "s"}
    return {**row, "measure": f"probe.{what}", **told}


def spent(of: Row, setting: str, count: float, seconds: float) -> Row:
    """What the waits table says of one setting of its probe."""
    names = ("scenario", "environment", "client", "client_version", "driver", "brokers", "case")
    told = {"operation": "probe", "setting": setting, "elapsed": count, "total_s": seconds}
    return {**{name: of[name] for name in names}, **told}


def heat(runs: list[Row], waits: list[Row], settings: Iterable[Row] = ()) -> Heat:
    cases = cases_of(runs)
    return heat_of(cases, waits, DisplayNames.for_cases(cases), causes_of(settings, cases))
