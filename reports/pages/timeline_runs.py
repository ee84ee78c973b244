"""Which runs get a time line: one of each case that failed, one that stands for the suite; the page states the rule."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.charts.timeline import terms_of
from reports.pages.cases import Case, Row

BLACKHOLE = "blackhole"
REPRESENTATIVE = (
    "Chosen by rule: among the cases in which a connected client that reports its waits met a proven blackhole, the "
    "one whose formula names the most settings; of several, the one that most claims speak about, then the shortest; "
    "of its runs, the one with the median time."
)
FAILED = (
    "Chosen by rule: of the cases that failed, the farthest off of each scenario and client, up to {most}; of its "
    "runs, the one with the median time."
)
MAX_FAILED = 6
CLIENT_KEY = ("scenario", "environment", "client", "client_version", "driver")
ANY = (
    "Chosen by rule: no case has a connected client and a proven blackhole, so it is the one whose formula names the "
    "most settings; of its runs, the one with the median time."
)


@dataclass(frozen=True, slots=True)
class ChosenRun:
    """A run, the expectation whose time is drawn, and why this one."""

    run: Row
    judged: Mapping[str, Any]
    why: str


def choose_runs(cases: Sequence[Case]) -> tuple[ChosenRun, ...]:
    """Runs of failed cases first, if there are any; nothing where no run has a time that a formula predicts."""
    timed = [case for case in cases if case.verdict in ("pass", "fail") and timed_expectation(case.first)]
    failed = largest_deviation_per_client([case for case in timed if case.verdict == "fail"])[:MAX_FAILED]
    interesting = sorted((case for case in timed if established_blackhole(case.first)), key=rank)
    others = sorted(timed, key=rank)
    chosen = [(case, FAILED.format(most=MAX_FAILED)) for case in failed]
    if interesting:
        chosen.append((interesting[0], REPRESENTATIVE))
    elif others:
        chosen.append((others[0], ANY))
    seen: list[ChosenRun] = []
    for case, why in chosen:
        found = median_run(case)
        if found and all(found[0]["run_id"] != one.run["run_id"] for one in seen):
            seen.append(ChosenRun(found[0], found[1], why))
    return tuple(seen)


def largest_deviation_per_client(cases: Iterable[Case]) -> list[Case]:
    """One of each scenario and client, the farthest off first."""
    ordered = sorted(cases, key=deviation_s, reverse=True)
    first: dict[tuple[str, ...], Case] = {}
    for case in ordered:
        first.setdefault(tuple(case.first[name] for name in CLIENT_KEY), case)
    return list(first.values())


def deviation_s(case: Case) -> float:
    """How far its median run's time is from what was predicted, in seconds."""
    found = median_run(case)
    if found is None:
        return 0.0
    return off_s(found[1])


def established_blackhole(run: Row) -> bool:
    """Whether a proven blackhole began after an operation had succeeded."""
    ended_well = [one["ended_ns"] for one in run["operations"] if one["outcome"] == "ok"]
    return any(
        fault["fault"] == BLACKHOLE and fault["proven"] and any(ns <= fault["began_ns"] for ns in ended_well)
        for fault in run["faults"]
    )


def rank(case: Case) -> tuple[bool, int, int, float]:
    judged = timed_expectation(case.first)
    settings = {term["setting"] for term in terms_of(judged)} if judged else set()
    claims = sum(one["kind"] == "claim" and one["outcome"] != "skipped" for one in case.first["expectations"])
    return case.first["driver"] == "real", -len(settings), -claims, (judged or {}).get("predicted") or 0.0


def timed_expectation(run: Row) -> Mapping[str, Any] | None:
    """The expectation of a time that says most: one that failed before others, a formula before a limit, and of those
    that failed the farthest off."""
    timed = [
        one
        for one in run["expectations"]
        if one["unit"] == "s" and one["kind"] != "claim" and one["outcome"] in ("held", "failed")
    ]
    alias = {operation["alias"] for operation in run["operations"]}
    timed = [one for one in timed if one["measure"].partition(".")[0] in alias]
    return min(timed, key=says_most, default=None)


def says_most(judged: Mapping[str, Any]) -> tuple[bool, bool, float]:
    failed = judged["outcome"] == "failed"
    return not failed, judged["kind"] != "equals", -off_s(judged) if failed else 0.0


def off_s(judged: Mapping[str, Any]) -> float:
    """Seconds between what was measured and what was expected."""
    bound = judged["predicted"] if judged["predicted"] is not None else judged["high"]
    return float(abs((judged["measured"] or judged["censored_at"] or 0.0) - (bound or 0.0)))


def median_run(case: Case) -> tuple[Row, Mapping[str, Any]] | None:
    timed_runs = [(run, judged) for run in case.runs if (judged := timed_expectation(run)) is not None]
    if case.verdict == "fail":
        timed_runs = [pair for pair in timed_runs if pair[0]["verdict"] == "fail"]
    timed_runs.sort(key=lambda pair: pair[1]["measured"] or pair[1]["censored_at"] or 0.0)
    return timed_runs[(len(timed_runs) - 1) // 2] if timed_runs else None
