"""Single runs: the worst of them with all that is needed to see them again, and how quiet the machine was."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.records.bounds import LIMITS, distance_rank
from reports import figures
from reports.charts.histogram import Histogram, histogram_of
from reports.grouping import grouped
from reports.pages.cases import DisplayNames, Row, fault_of, replay_command
from reports.pages.truncate import Truncated
from reports.pages.verdicts import SEVERITY_ORDER

MAX_SHOWN = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """`off` is how far its worst expectation is off, as text; `used` the same in its tolerances."""

    row: Row
    client: str
    fault: str
    off: str
    used: float | None
    replay: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How late the lab's own timers came; `rows`: environment, runs, median, worst, tried again."""

    finding: str
    picture: Histogram | None
    rows: tuple[tuple[str, str, str, str, str], ...]


def runs_of(runs: Sequence[Row], names: DisplayNames, folders: Mapping[int, str]) -> Truncated[RunRow]:
    """By verdict, the most severe first; then the farthest off, and by how much of its tolerance a run used up.
    `folders` are the results by the number of their suite."""
    ordered = sorted(runs, key=lambda run: (SEVERITY_ORDER.index(run["verdict"]), *by_distance(run)))
    made = (run_row(run, names, folders.get(run["suite"], "")) for run in ordered[:MAX_SHOWN])
    return Truncated(tuple(made), len(runs), "report/runs.parquet")


def run_row(run: Row, names: DisplayNames, folder: str) -> RunRow:
    worst = worst_expectation(run)
    used = worst.used if worst.words else None
    replay = replay_command(run["run_id"], folder)
    return RunRow(row=run, client=names.of(run), fault=fault_of(run), off=worst.words, used=used, replay=replay)


def by_distance(run: Row) -> tuple[float, ...]:
    """What sorts runs, the farthest off first."""
    return tuple(-part for part in worst_expectation(run).rank)


class WorstExpectation(NamedTuple):
    """`rank` sorts violated expectations before others, the farthest off last; `used` is how far it is off in its
    tolerances; `words` say so, and are empty where nothing is off."""

    rank: tuple[float, float, float] = (0.0, 0.0, 0.0)
    used: float = 0.0
    words: str = ""


def worst_expectation(run: Row) -> WorstExpectation:
    """Of those that the run violates the one that is farthest off, else the one that uses up most of its tolerance."""
    worst = WorstExpectation()
    for one in run["expectations"] or []:
        found = one["measured"] if one["measured"] is not None else one["censored_at"]
        if found is None or one["predicted"] is None or (one["kind"] == "claim" and not one["fails_run"]):
            continue
        off = found - one["predicted"]
        used = tolerances_used(one, off)
        violated = one["outcome"] == "failed" or one["fails_run"]
        rank = (1.0, *distance_rank(one["unit"], off, one["predicted"])) if violated else (0.0, used, 0.0)
        if rank > worst.rank:
            worst = WorstExpectation(rank, used, f"{one['measure']} {figures.difference(off, one['unit'])}")
    return worst


def tolerances_used(judged: Row, off: float) -> float:
    """On the allowed side of a limit nothing is; a limit without a tolerance is its own measure."""
    kind, predicted = judged["kind"], judged["predicted"]
    if (kind == "at_most" and off <= 0) or (kind == "at_least" and off >= 0):
        return 0.0
    side = judged["high" if off > 0 else "low"]
    allowed = 0.0 if side is None else abs(side - predicted)
    if kind in LIMITS:
        allowed = allowed or abs(predicted)
    return float(abs(off) / (allowed or 1e-9)) if off else 0.0


def noise_of(noise: Iterable[Row]) -> Noise | None:
    """None where no environment has noise: simulated time has none."""
    by_place = grouped((row for row in noise if row["environment"] != "sim"), lambda row: str(row["environment"]))
    if not by_place:
        return None
    every = [row for own in by_place.values() for row in own]
    again = sum(row["tries"] > 1 for row in every)
    worst = max(row["loop_lag_p99_s"] for row in every)
    return Noise(
        finding=f"In the noisiest run that counts, 99 of 100 timers came at most {figures.short(worst)} late; "
        f"{figures.many(again, 'run')} had to be tried again.",
        picture=histogram_of([row["loop_lag_p99_s"] for row in every]),
        rows=tuple(noise_row(place, own) for place, own in sorted(by_place.items())),
    )


def noise_row(place: str, own: Sequence[Row]) -> tuple[str, str, str, str, str]:
    lags = sorted(row["loop_lag_p99_s"] for row in own)
    return (
        place,
        f"{len(own):,}",
        figures.short(lags[len(lags) // 2]),
        figures.short(lags[-1]),
        str(sum(row["tries"] > 1 for row in own)),
    )
