"""What needs attention: cases that did not pass, the worst first, with what is to blame and how to see them again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reports import figures
from reports.charts.badges import Badge
from reports.grouping import grouped
from reports.pages.blame import Blame, blame_of
from reports.pages.cases import Case, DisplayNames, Row, deduplicate_reasons, key_of, placed
from reports.pages.groups import statistic
from reports.pages.times import TimeRow, by_distance, parameters_of
from reports.pages.truncate import Truncated, truncate
from reports.pages.verdicts import SEVERITY_ORDER, WORDS

MAX_SHOWN = 40
MAX_ROWS = 12
"""Rows of one card: the others stand in the table below."""
MAX_SUMMARISED = 4
"""Rows of a card that its summary repeats."""
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionCard:
    """The cases of a scenario and a client that went wrong in the same way. `rows` are the expectations that were
    violated, the farthest off first, and behind them what an only case was expected to do besides; `error` is what the
    operation's error says, `late` how late the lab was in waits that it left inconclusive, `replay` runs the worst case
    again, `line` is the run with a time line below."""

    scenario: str
    client: str
    environment: str
    fault: str
    verdict: str
    cases: tuple[Case, ...]
    tally: str
    reasons: tuple[str, ...]
    rows: Truncated[TimeRow]
    error: str
    late: tuple[str, ...]
    blame: Blame | None
    replay: str
    line: str

    @property
    def anchor(self) -> str:
        """Its place on the page: that of its worst run."""
        return f"case-{self.cases[0].worst_run['run_id']}"

    @property
    def summary(self) -> str:
        """What somebody pastes into a ticket: verdict, case, bound, measured, setting, error, replay."""
        parameters = ", ".join(f"{name} {value}" for name, value in parameters_of(self.cases[0].first["case"]))
        lines = [
            f"{WORDS[self.verdict].upper()}  {self.scenario}, {placed(self.client, self.environment)}, {self.fault}"
        ]
        lines += [f"case: {parameters}"] if parameters else []
        for row in self.rows.shown[:MAX_SUMMARISED]:
            if row.verdict == "fail":
                off = f" ({row.off_text})" if row.off_text else ""
                lines.append(
                    f"{row.row['measure']}: {figures.predicted(row.row)} [{row.bound}], measured {row.measured}{off}"
                )
        lines += self.reasons
        lines += [f"{part.badge.setting}: {part.words}" for part in self.blame.parts] if self.blame else []
        lines += [f"error: {self.error}"] if self.error else []
        return "\n".join([*lines, *self.late, f"replay: {self.replay}"])

    @property
    def parameters(self) -> str:
        """Of the only case; of several, the table tells them apart."""
        return self.cases[0].first["case"] or "" if len(self.cases) == 1 else ""


def attention_of(
    cases: Mapping[Key, Case],
    rows: Iterable[TimeRow],
    waits: Iterable[Row],
    names: DisplayNames,
    marks: Mapping[str, Badge],
    drawn: set[str],
) -> Truncated[AttentionCard]:
    """The most severe verdict first; failures by how many seconds they are beyond the prediction."""
    by_case = grouped(rows, lambda row: key_of(row.row))
    failed = {key: sorted((r for r in own if r.verdict == "fail"), key=by_distance) for key, own in by_case.items()}
    failed = {key: own for key, own in failed.items() if own}
    waited = grouped((one for one in waits if key_of(one) in failed), lambda one: (*key_of(one), one["operation"]))
    together = grouped(
        ((key, case) for key, case in cases.items() if case.verdict not in ("pass", "skipped")),
        lambda one: (one[1].first["scenario"], names.of(one[1].first), one[1].fault, one[1].verdict),
    )
    made = []
    for own in together.values():
        own.sort(key=lambda one: largest_distance(failed.get(one[0], ())), reverse=True)
        shown = [(place, row) for key, _ in own for place, row in enumerate(failed.get(key, ()))]
        if len(own) == 1 and shown:
            shown += [(1, row) for row in by_case[own[0][0]] if row.verdict != "fail"]
        to_blame = [replace(row, again=place > 0) for place, row in shown]
        made.append((largest_distance(to_blame), make_card(own, to_blame, by_case, waited, names, marks, drawn)))
    made.sort(key=lambda one: one[0], reverse=True)
    made.sort(key=lambda one: SEVERITY_ORDER.index(one[1].verdict))
    return truncate((card for _, card in made), MAX_SHOWN, "the table below")


def make_card(
    own: Sequence[tuple[Key, Case]],
    rows: Sequence[TimeRow],
    by_case: Mapping[Key, Sequence[TimeRow]],
    waited: Mapping[Key, Sequence[Row]],
    names: DisplayNames,
    marks: Mapping[str, Badge],
    drawn: set[str],
) -> AttentionCard:
    cases = tuple(case for _, case in own)
    first = cases[0].first
    measures = {f"{row.row['measure']}: " for row in rows}
    reasons = [reason for case in cases for reason in (*case.reasons, *statistic_reasons(case))]
    worst = row_to_blame(rows)
    settings = {one["name"]: one["seconds"] for one in first["settings"] or []}
    return AttentionCard(
        scenario=first["scenario"],
        client=names.of(first),
        environment=first["environment"],
        fault=cases[0].fault,
        verdict=cases[0].verdict,
        cases=cases,
        tally=tally(cases),
        reasons=deduplicate_reasons(one for one in reasons if not any(one.startswith(name) for name in measures)),
        rows=truncate(rows, MAX_ROWS, "the table below"),
        error=cases[0].error_of(worst.alias) if worst else "",
        late=lateness(own, by_case),
        blame=blame_of(worst.row, waited.get((*key_of(worst.row), worst.alias), ()), marks, settings)
        if worst
        else None,
        replay=cases[0].replay,
        line=next((run["run_id"] for case in cases for run in case.runs if run["run_id"] in drawn), ""),
    )


def lateness(own: Iterable[tuple[Key, Case]], by_case: Mapping[Key, Sequence[TimeRow]]) -> tuple[str, ...]:
    """`probe.time_to_error: the lab was up to 0.41 s late`, the most of each measure."""
    late = [row for key, _ in own for row in by_case.get(key, ()) if row.late]
    late.sort(key=lambda row: row.row["late_s"])
    return tuple({row.row["measure"]: f"{row.row['measure']}: {row.late}" for row in late}.values())


def row_to_blame(rows: Sequence[TimeRow]) -> TimeRow | None:
    """The violated time that is farthest off; of the expectations of its measure a formula tells more than a limit."""
    times = [row for row in rows if row.verdict == "fail" and row.row["unit"] == "s"]
    if not times:
        return None
    alike = (row for row in times if key_of(row.row) == key_of(times[0].row))
    same = (row for row in alike if row.row["measure"] == times[0].row["measure"] and row.row["kind"] == "equals")
    return next(same, times[0])


def largest_distance(rows: Iterable[TimeRow]) -> tuple[float, float]:
    return max((row.distance for row in rows if row.verdict == "fail"), default=(0.0, 0.0))


def tally(cases: Sequence[Case]) -> str:
    """`3 of 5 runs`, `12 of 27 runs, 3 cases`, `the only run`; `all 12 runs together` where each of them is well."""
    runs, runs_with_verdict = sum(len(case.runs) for case in cases), sum(len(case.runs_with_verdict) for case in cases)
    if runs == 1:
        return "the only run"
    of_runs = (
        f"{runs_with_verdict} of {figures.many(runs, 'run')}"
        if runs_with_verdict
        else f"all {figures.many(runs, 'run')} together"
    )
    return of_runs if len(cases) == 1 else f"{of_runs}, {len(cases)} cases"


def statistic_reasons(case: Case) -> Iterable[str]:
    """Why its statistics have the case's verdict."""
    for row in case.groups:
        if row["verdict"] == case.verdict:
            yield f"{statistic(row)}: {row['reason'] or 'no reason was recorded'}"
