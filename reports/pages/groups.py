"""Statistics over repeats: what the runs of a case have in common, with how sure the lab is of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.records.bounds import bound_text
from reports import figures
from reports.charts.interval import IntervalChart, interval_chart
from reports.pages.cases import DisplayNames, Row
from reports.pages.times import parameters_of
from reports.pages.truncate import Truncated, truncate
from reports.pages.verdicts import SEVERITY_ORDER

MAX_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """One statistical expectation over one case. `expected` and `found` come with their bounds."""

    row: Row
    client: str
    fault: str
    case: tuple[tuple[str, str], ...]
    what: str
    expected: str
    tolerance: str
    found: str
    interval: str
    picture: IntervalChart | None
    verdict: str
    runs: str

    @property
    def bound(self) -> str:
        """As the scenario writes it."""
        return bound_text(self.row["kind"], self.row["formula"], self.row["bound"])

    @property
    def name(self) -> str:
        """Unless the bound says it already."""
        name = self.row["name"] or ""
        return "" if f"formula({name})" in self.bound else name

    @property
    def place(self) -> str:
        return f"{self.row['path']}:{self.row['line']}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Runs and reason; the reason alone where it begins with the runs."""
        reason = self.row["reason"] or ""
        return tuple(one for one in ("" if reason.startswith(self.runs) else self.runs, reason) if one)


def groups_of(groups: Iterable[Row], names: DisplayNames) -> Truncated[GroupRow]:
    """Failed ones first; claims stand with the other claims, and what does not apply stands nowhere."""
    judged = judged_groups(groups)
    judged.sort(key=lambda row: (SEVERITY_ORDER.index(row["verdict"]), row["scenario"], row["line"] or 0))
    return truncate((group_row(row, names) for row in judged), MAX_SHOWN, "report/groups.parquet")


def judged_groups(groups: Iterable[Row]) -> list[Row]:
    """Without claims, and without what does not apply."""
    return [row for row in groups if row["kind"] != "claim" and row["outcome"] != "skipped"]


def group_row(row: Row, names: DisplayNames) -> GroupRow:
    runs = figures.many(row["measured"], "run")
    needs = f", needs about {row['needed']:,}" if row["needed"] and not row["reason"] else ""
    return GroupRow(
        row=row,
        client=names.of(row),
        fault=names.fault(row),
        case=parameters_of(row["case"]),
        what=statistic(row),
        expected=figures.predicted(row),
        tolerance=figures.tolerance(row),
        found=figures.amount(row["estimate"], row["unit"]),
        interval=interval_text(row),
        picture=interval_chart(row),
        verdict=row["verdict"],
        runs=f"{runs}{needs}",
    )


def statistic(row: Row) -> str:
    """`mean of probe.time_to_error`, `share of runs with probe.outcome == 'failed'`, `95 % quantile of ...`."""
    if row["statistic"] == "share":
        return f"share of runs with {row['of']}"
    if row["statistic"] == "quantile":
        return f"{100 * row['q']:g} % quantile of {row['of']}"
    return f"{row['statistic']} of {row['of']}"


def interval_text(row: Row) -> str:
    low, high = row["interval_low"], row["interval_high"]
    if low is None and high is None:
        return ""
    if low is None or high is None:
        side, value = ("at least", low) if high is None else ("at most", high)
        return f"{side} {figures.amount(value, row['unit'])}"
    return f"{figures.amount(low, row['unit']).removesuffix(' s')} to {figures.amount(high, row['unit'])}"
