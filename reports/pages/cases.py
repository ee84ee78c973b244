"""Cases as the page shows them: the repeats of one scenario with one set of parameters, and what became of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.pages.verdicts import gravest

Row = Mapping[str, Any]
KEY = ("scenario", "environment", "client", "client_version", "brokers", "case")


def key_of(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


@dataclass(frozen=True, slots=True)
class Case:
    """`runs` are rows of the runs table, at least one."""

    runs: tuple[Row, ...]

    @property
    def first(self) -> Row:
        return self.runs[0]

    @property
    def verdict(self) -> str:
        return gravest(run["verdict"] for run in self.runs)

    @property
    def gravest_run(self) -> Row:
        return next(run for run in self.runs if run["verdict"] == self.verdict)

    @property
    def tally(self) -> str:
        """`3 of 5` runs that have the case's verdict."""
        return f"{sum(run['verdict'] == self.verdict for run in self.runs)} of {len(self.runs)}"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not a pass: each reason once, the most frequent first."""
        told = Counter(reason for run in self.runs if run["verdict"] == self.verdict for reason in run["reasons"])
        if self.gravest_run["error"]:
            told[self.gravest_run["error"]["text"]] += 1
        return tuple(reason for reason, _ in told.most_common(3))


def cases_of(runs: Sequence[Row]) -> dict[tuple[Any, ...], Case]:
    together: dict[tuple[Any, ...], list[Row]] = {}
    for run in runs:
        together.setdefault(key_of(run), []).append(run)
    return {key: Case(tuple(own)) for key, own in together.items()}
