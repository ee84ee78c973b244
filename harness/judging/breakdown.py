"""Where the time of an operation went: the waits that the client really made, beside the terms of a formula, if there
is one. A limit has no terms: it says how long, not of what.
"""

from dataclasses import dataclass
from itertools import pairwise

from client.events import TraceKind
from harness.formulas.profiles import profile_of
from harness.formulas.scope import scope_of
from harness.judging.one_run import judge_expectation
from harness.measures import MEASURES, Missing, RunView, parse
from harness.measures.trace import Wait, settings_waited_on
from harness.plan import Expectation, RunPlan
from harness.story import Outcome, Story

MIN_UNPREDICTED_S = 0.0005
"""Unpredicted waits that took less than this are left unattributed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakdownRow:
    """One setting (or one term without a setting: `setting` is None and nothing is measured).

    `measured_count` counts waits whose limit passed; `ended_early` those that something else ended. `each_s` is what a
    term counts, or without a term the setting's own value; None where it has none.
    """

    text: str
    setting: str | None
    predicted_count: float | None
    each_s: float | None
    predicted_s: float
    measured_count: int
    measured_s: float
    ended_early: int

    @property
    def difference_s(self) -> float:
        return self.measured_s - self.predicted_s

    @property
    def note(self) -> str:
        """`4 extra`, `3 missing`, or nothing."""
        if self.setting is None:
            return ""
        difference = self.measured_count - round(self.predicted_count or 0)
        return "" if difference == 0 else f"{abs(difference)} {'extra' if difference > 0 else 'missing'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakdownSegment:
    """A stretch of the operation in seconds since its call; `setting` is None where it waited on none."""

    began_s: float
    ended_s: float
    setting: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """`predicted_s` is the bound's value, of a range its upper end. `by_formula`: its terms name settings, and `rows`
    are in their order, else they are by time, the longest first. `unattributed_s` is the rest: no wait on a setting.
    `never_waited_on` are durations that the scenario sets and the client never waited on."""

    predicted_s: float
    is_limit: bool
    by_formula: bool
    measured_s: float
    censored: bool
    rows: tuple[BreakdownRow, ...]
    unattributed_s: float
    segments: tuple[BreakdownSegment, ...]
    never_waited_on: tuple[str, ...]


def break_down_time(plan: RunPlan, story: Story, expectation: Expectation) -> Breakdown | Missing:
    """Split an operation's time by the settings it waited on, beside the expectation's formula, unless it is a limit.

    Where waits overlap, the one that began last has the time: it is the innermost.
    """
    name = parse(expectation.measure)
    if MEASURES[name.measure].unit != "s":
        return Missing(f"{expectation.measure} is no time")
    run = RunView(plan, story)
    operation = run.operation(name.alias)
    missing = operation if isinstance(operation, Missing) else run.missing_trace(TraceKind.WAIT_STARTED)
    if isinstance(operation, Missing) or missing is not None:
        return missing or Missing(f"`{name.alias}` never ran")
    judged = judge_expectation(run, scope_of(plan, profile_of(plan.client)), expectation)
    waits = run.during(operation).waits
    segments = split(waits, operation.started_ns, operation.ended_ns)
    is_limit = expectation.kind not in ("equals", "claim")
    named = set() if is_limit else {term.setting for term in judged.terms if term.setting}
    durations = {setting.name: setting.value for setting in plan.settings if setting.unit == "s"}
    rows = [
        _row(waits, segments, term.text, term.setting, term.count, term.each, term.total)
        for term in (judged.terms if named else ())
    ]
    unpredicted = [
        _row(waits, segments, setting, setting, None, durations.get(setting), 0.0)
        for setting in settings_waited_on(waits)
        if setting not in named
    ]
    if not named:
        unpredicted.sort(key=lambda row: -row.measured_s)
    rows += [row for row in unpredicted if row.measured_count or row.measured_s >= MIN_UNPREDICTED_S]
    measured_s = (operation.ended_ns - operation.started_ns) / 1e9
    waited_on = set(settings_waited_on(waits))
    return Breakdown(
        predicted_s=judged.predicted or judged.high or 0.0,
        is_limit=is_limit,
        by_formula=bool(named),
        measured_s=measured_s,
        censored=operation.outcome is Outcome.CENSORED,
        rows=tuple(rows),
        unattributed_s=measured_s - sum(row.measured_s for row in rows),
        segments=segments,
        never_waited_on=tuple(s for s in plan.given_settings if s in durations and s not in waited_on),
    )


def split(waits: tuple[Wait, ...], began_ns: int, ended_ns: int) -> tuple[BreakdownSegment, ...]:
    """The time from `began_ns` to `ended_ns` without gaps or overlaps, each stretch with its innermost wait."""
    edges = sorted({began_ns, ended_ns, *(w.began_ns for w in waits), *(w.ended_ns for w in waits)})
    edges = [edge for edge in edges if began_ns <= edge <= ended_ns]
    found: list[BreakdownSegment] = []
    for start_ns, end_ns in pairwise(edges):
        inside = [wait for wait in waits if wait.began_ns <= start_ns and wait.ended_ns >= end_ns]
        setting = max(inside, key=lambda wait: wait.began_ns).setting if inside else None
        found.append(
            BreakdownSegment(began_s=(start_ns - began_ns) / 1e9, ended_s=(end_ns - began_ns) / 1e9, setting=setting)
        )
    return tuple(found)


def _row(
    waits: tuple[Wait, ...],
    segments: tuple[BreakdownSegment, ...],
    text: str,
    setting: str | None,
    count: float | None,
    each_s: float | None,
    total_s: float,
) -> BreakdownRow:
    mine = [wait for wait in waits if setting is not None and wait.setting == setting]
    elapsed = sum(wait.outcome == "elapsed" for wait in mine)
    return BreakdownRow(
        text=text,
        setting=setting,
        predicted_count=count,
        each_s=each_s,
        predicted_s=total_s,
        measured_count=elapsed,
        measured_s=sum(s.ended_s - s.began_s for s in segments if setting is not None and s.setting == setting),
        ended_early=len(mine) - elapsed,
    )
