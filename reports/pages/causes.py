"""What a caller hung for: the settings whose waits made up an operation's time, as one phrase."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports import figures
from reports.grouping import grouped
from reports.pages.cases import Case, Row, key_of

MIN_COVERED = 0.5
"""Of the operation's time, what the waits have to account for before they are called its cause."""
MAX_NAMED = 2
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """`count` waits on one setting ran out, each after `each_s` (None: the setting has no time of its own); they took
    `total_s`. Without a count the wait ended before its limit."""

    setting: str
    count: float
    each_s: float | None
    total_s: float

    @property
    def words(self) -> str:
        """`14 x Net.DialTimeout (1 s)`, `Net.ReadTimeout for 0.450 s`."""
        if not self.count:
            return f"{self.setting} for {figures.amount(self.total_s, 's')}"
        each = f" ({figures.setting_value(self.each_s)})" if self.each_s else ""
        return f"{self.count:g} \u00d7 {self.setting}{each}"


@dataclass(frozen=True, slots=True)
class Causes:
    """`waits` has rows of the waits table by case and operation, the longest first; `values` each case's settings in
    seconds."""

    waits: Mapping[Key, Sequence[Row]]
    values: Mapping[Key, Mapping[str, float | None]]

    def of(self, row: Row) -> tuple[Cause, ...]:
        """Why the operation took so long that this row of the timeout table measures: the settings that cover most of
        its median time, the longest first. Nothing where the client reports no waits, or these do not account for it.
        """
        key = key_of(row)
        waits = self.waits.get((*key, str(row["measure"]).partition(".")[0]), ())
        whole_s = row["median"] or 0.0
        named: list[Cause] = []
        for wait in waits[:MAX_NAMED]:
            each_s = self.values.get(key, {}).get(wait["setting"])
            named.append(Cause(setting=wait["setting"], count=wait["elapsed"], each_s=each_s, total_s=wait["total_s"]))
            if sum(one.total_s for one in named) >= MIN_COVERED * whole_s:
                return tuple(named)
        return ()


def causes_of(waits: Iterable[Row], cases: Mapping[Key, Case]) -> Causes:
    by_operation = grouped(waits, lambda row: (*key_of(row), row["operation"]))
    values = {key: {one["name"]: one["seconds"] for one in case.first["settings"] or []} for key, case in cases.items()}
    longest_first = {key: sorted(own, key=lambda row: -row["total_s"]) for key, own in by_operation.items()}
    return Causes(longest_first, values)
