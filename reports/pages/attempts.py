"""What was tried: how often a call delivered, dialled and asked for metadata before it came back, how that ended."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from reports import figures
from reports.grouping import grouped
from reports.pages.cases import Case, DisplayNames, Row, deduplicate_reasons, key_of
from reports.pages.times import parameters_of
from reports.pages.truncate import Truncated

MAX_SHOWN = 60
MAX_ERRORS = 3
KINDS = ("attempt", "dial", "refresh")
WORDS = (("attempt", "attempts"), ("dial", "dials"), ("metadata refresh", "metadata refreshes"))
SUCCESS_OUTCOMES = ("ok", "connected", "seen on the wire")
"""How tries end that need no attention."""
NO_OPERATION = "between calls"
HOST = r"(?:\[[0-9a-f:.]+\]|\b\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?"
ADDRESS = re.compile(f"{HOST}(?:->{HOST})?")
"""An address with its port, or both of a connection, as Go and Java write them."""
ANY_ADDRESS = "ADDRESS"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSummary:
    """Tries of one kind: the median of a run, as a figure and as text; how they ended, and how long each took."""

    count: float
    spread: str
    endings: str
    took: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    """One operation of one case; `kinds` in the order of KINDS, None where nothing of the kind was seen."""

    scenario: str
    client: str
    fault: str
    verdict: str
    case: tuple[tuple[str, str], ...]
    operation: str
    runs: int
    kinds: tuple[AttemptSummary | None, ...]
    errors: tuple[str, ...]

    @property
    def tries(self) -> float:
        return sum(one.count for one in self.kinds if one)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """`rows` by how much was tried, the most first. `plain` operations came through with one try of a kind each: they
    are counted, not shown."""

    rows: Truncated[AttemptRow]
    plain: int
    finding: str


def attempts_of(rows: Sequence[Row], cases: Mapping[tuple[Any, ...], Case], names: DisplayNames) -> Attempts | None:
    """None where no client reported its tries, and none were seen on the wire."""
    together = grouped(rows, lambda row: (*key_of(row), row["operation"]))
    if not together:
        return None
    plain = [own for own in together.values() if succeeded_first_try(own, cases[key_of(own[0])].runs)]
    plainly = {id(own) for own in plain}
    repeated = [own for own in together.values() if id(own) not in plainly]
    made = [attempt_row(own, len(cases[key_of(own[0])].runs), names) for own in repeated]
    made.sort(key=lambda one: -one.tries)
    shown = Truncated(tuple(made[:MAX_SHOWN]), len(made), "report/attempts.parquet", worst_first=False)
    calls = sum(own[0]["operation"] is not None for own in plain)
    return Attempts(rows=shown, plain=calls, finding=finding(made, calls))


def succeeded_first_try(own: Sequence[Row], runs: Iterable[Row]) -> bool:
    """One try of a kind in each run, and it succeeded; of a call, the operation succeeded too.

    The wire does not show how a dial ended."""
    called = [one for run in runs for one in run["operations"] or [] if one["alias"] == own[0]["operation"]]
    return all(row["count"] == 1 and row["outcome"] in SUCCESS_OUTCOMES for row in own) and all(
        one["outcome"] == "ok" for one in called
    )


def attempt_row(own: Sequence[Row], runs: int, names: DisplayNames) -> AttemptRow:
    first = own[0]
    return AttemptRow(
        scenario=first["scenario"],
        client=names.of(first),
        fault=names.fault(first),
        verdict=names.verdict(first),
        case=parameters_of(first["case"]),
        operation=first["operation"] or NO_OPERATION,
        runs=runs,
        kinds=tuple(summarize_attempts([row for row in own if row["tried"] == kind], runs) for kind in KINDS),
        errors=errors_without_addresses((error for row in own for error in row["errors"] or []), most=MAX_ERRORS),
    )


def errors_without_addresses(errors: Iterable[str], *, most: int) -> tuple[str, ...]:
    """Errors that differ in addresses, ports and figures alone are one, the most frequent first."""
    general = [ADDRESS.sub(ANY_ADDRESS, error) for error in errors]
    return deduplicate_reasons(general, most=most)


def summarize_attempts(own: Sequence[Row], runs: int) -> AttemptSummary | None:
    """A run that is not among the rows tried nothing of the kind: it counts as none."""
    if not own:
        return None
    of_run = counts_per_run(own, runs)
    endings = {
        outcome: counts_per_run([row for row in own if row["outcome"] == outcome], runs)
        for outcome in outcomes_failures_first(own)
    }
    low, high = min(of_run), max(of_run)
    return AttemptSummary(
        count=median(of_run),
        spread=f"{low} to {high}" if low != high else "",
        endings=", ".join(f"{median(counts):g} {outcome}" for outcome, counts in endings.items() if median(counts)),
        took=duration_text(own),
    )


def counts_per_run(own: Iterable[Row], runs: int) -> list[int]:
    """Tries run by run; those of runs without any are the zeros."""
    counted: dict[tuple[Any, ...], int] = {}
    for row in own:
        place = (row["suite"], row["run_id"])
        counted[place] = counted.get(place, 0) + row["count"]
    return [*counted.values(), *[0] * (runs - len(counted))]


def outcomes_failures_first(own: Iterable[Row]) -> list[str]:
    """What went wrong before what did not."""
    return sorted({row["outcome"] for row in own}, key=lambda outcome: (outcome in SUCCESS_OUTCOMES, outcome))


def duration_text(own: Iterable[Row]) -> str:
    """`0.50 s each`, `1 ms to 0.50 s each`; nothing where no end was seen."""
    known = [(row["min_s"], row["max_s"]) for row in own if row["min_s"] is not None]
    if not known:
        return ""
    low, high = figures.short(min(low for low, _ in known)), figures.short(max(high for _, high in known))
    return f"{low} each" if low == high else f"{low} to {high} each"


def finding(made: Sequence[AttemptRow], plain: int) -> str:
    calls = figures.many(plain, "operation")
    if not made:
        return f"Every operation came through at the first try: {calls}."
    worst = made[0]
    most = ", ".join(
        f"{one.count:g} {single if one.count == 1 else several}"
        for (single, several), one in zip(WORDS, worst.kinds, strict=True)
        if one and one.count
    )
    rest = f" {calls} came through at the first try." if plain else ""
    return f"Most was tried by {worst.operation} of {worst.scenario} ({worst.client}): {most}.{rest}"
