"""Cases as the page shows them: the repeats of one scenario with one set of parameters, and what became of them."""

import re
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
        """Why it is not a pass. Reasons that differ in their figures alone are told once, the most frequent first."""
        alike: dict[str, list[str]] = {}
        for run in self.runs:
            if run["verdict"] == self.verdict:
                for reason in run["reasons"] or [run["error"]["text"] if run["error"] else "no reason was recorded"]:
                    alike.setdefault(re.sub(r"\d+", "0", reason), []).append(reason)
        return tuple(told[0] for told in sorted(alike.values(), key=len, reverse=True)[:3])


def cases_of(runs: Sequence[Row]) -> dict[tuple[Any, ...], Case]:
    together: dict[tuple[Any, ...], list[Row]] = {}
    for run in runs:
        together.setdefault(key_of(run), []).append(run)
    return {key: Case(tuple(own)) for key, own in together.items()}
