"""Cases as the page shows them: the repeats of one scenario with one set of parameters, with their verdicts."""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

from reports.grouping import grouped
from reports.pages.verdicts import worst_verdict

Row = Mapping[str, Any]
KEY = ("scenario", "environment", "client", "client_version", "driver", "brokers", "case")
_KEY = itemgetter(*KEY)
NUMBERS_AND_IDS = re.compile(r"\b[0-9a-f]{12}\b|\d+")
"""What reasons may differ in: the id of a run, a number."""
MAX_MEMBER_ID = 100
"""Ids of the bootstrap list above this are addresses of no member: they answer nothing, or refuse."""
DEAD_ADDRESSES = "dead bootstrap addresses"
NO_FAULT = "no fault"


def key_of(row: Row) -> tuple[Any, ...]:
    key: tuple[Any, ...] = _KEY(row)
    return key


def fault_of(run: Row) -> str:
    """What was wrong in the run, in one phrase: the kinds of its faults in their order."""
    kinds = dict.fromkeys(fault["fault"] for fault in run["faults"] or [])
    if kinds:
        return " + ".join(kinds)
    return DEAD_ADDRESSES if any(one > MAX_MEMBER_ID for one in run["bootstrap"] or []) else NO_FAULT


@dataclass(frozen=True)
class Case:
    """`runs` are rows of the runs table, at least one; `groups` are the statistics over them."""

    runs: tuple[Row, ...]
    groups: tuple[Row, ...] = ()
    folder: str = ""
    """Its results, for commands that are given elsewhere; empty where they are in no folder of this machine."""

    @property
    def first(self) -> Row:
        return self.runs[0]

    @cached_property
    def verdict(self) -> str:
        """Of its runs and of what was expected of all of them together."""
        return worst_verdict(one["verdict"] for one in (*self.runs, *self.groups))

    @cached_property
    def fault(self) -> str:
        return next((fault for run in self.runs if (fault := fault_of(run)) != NO_FAULT), NO_FAULT)

    @property
    def worst_run(self) -> Row:
        return next((run for run in self.runs if run["verdict"] == self.verdict), self.first)

    @property
    def replay(self) -> str:
        """The command that shows it again: its worst run, or all of them where only the statistic over them fails."""
        return replay_command(self.worst_run["run_id"], self.folder, group=not self.runs_with_verdict)

    @property
    def runs_with_verdict(self) -> tuple[Row, ...]:
        """The runs that have the case's verdict: none where only all of them together have it."""
        return tuple(run for run in self.runs if run["verdict"] == self.verdict)

    def error_of(self, alias: str) -> str:
        """What most of the runs that have the case's verdict got from that operation; empty where it succeeded."""
        errors = Counter(
            one["error"] for run in self.runs_with_verdict for one in run["operations"] or [] if one["alias"] == alias
        )
        return next((error for error, _ in errors.most_common() if error), "")

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is not a pass, run by run."""
        return tuple(
            reason
            for run in self.runs_with_verdict
            for reason in run["reasons"] or [run["error"]["text"] if run["error"] else "no reason was recorded"]
        )


def replay_command(run_id: str, folder: str, *, group: bool = False) -> str:
    """`faultlab replay 7f3a19c2b0de --in /home/me/results/20260302-1402`, which works in any folder."""
    command = ["faultlab", "replay", run_id, *(["--group"] if group else []), *(["--in", folder] if folder else [])]
    return shlex.join(command)


def deduplicate_reasons(reasons: Iterable[str], *, most: int = 3) -> tuple[str, ...]:
    """Reasons that differ in their figures, or in the run that they name, are listed once, the most frequent first."""
    alike = grouped(reasons, lambda reason: NUMBERS_AND_IDS.sub("0", reason))
    return tuple(same[0] for same in sorted(alike.values(), key=len, reverse=True)[:most])


def placed(client: str, environment: str) -> str:
    """`sarama 1.27.2 on local`; where the client's name tells its place already, that alone."""
    return client if client.endswith(f", {environment}") else f"{client} on {environment}"


def cases_of(
    runs: Iterable[Row], groups: Iterable[Row] = (), folders: Mapping[int, str] = MappingProxyType({})
) -> dict[tuple[Any, ...], Case]:
    """`groups` are rows of the groups table: a statistic that fails fails its case, however well each run is.
    `folders` are the results by the number of their suite."""
    over_all = grouped(groups, key_of)
    return {
        key: Case(tuple(own), tuple(over_all.get(key, ())), folders.get(own[0]["suite"], ""))
        for key, own in grouped(runs, key_of).items()
    }


def local_folders(rows: Iterable[Row]) -> dict[int, str]:
    """The folders of this machine by the number of their suite, from rows of the folders table."""
    return {row["suite"]: str(Path(row["folder"]).absolute()) for row in rows if "://" not in row["folder"]}


DRIVERS: Mapping[str, str] = {"bundled": "profile", "real": "real", "exec": "own program"}


@dataclass(frozen=True, slots=True)
class DisplayNames:
    """What clients and faults are called on a page: `sarama 1.27.2`, and how it was run where that is not plain.

    `mixed` are the clients that more than one driver ran; `places` says whether there is more than one environment;
    `faults` and `verdicts` are those of each case.
    """

    mixed: frozenset[str]
    places: bool
    faults: Mapping[tuple[Any, ...], str]
    verdicts: Mapping[tuple[Any, ...], str] = field(default_factory=dict)

    @classmethod
    def for_cases(cls, cases: Mapping[tuple[Any, ...], Case]) -> "DisplayNames":
        drivers: dict[str, set[str]] = {}
        environments = set()
        for case in cases.values():
            drivers.setdefault(case.first["client"], set()).add(case.first["driver"])
            environments.add(case.first["environment"])
        mixed = frozenset(name for name, own in drivers.items() if len(own) > 1)
        faults = {key: case.fault for key, case in cases.items()}
        verdicts = {key: case.verdict for key, case in cases.items()}
        return cls(mixed, len(environments) > 1, faults, verdicts)

    def of(self, row: Row) -> str:
        """`sarama 1.27.2 (real), local`."""
        shown = row["driver"] != "bundled" or row["client"] in self.mixed
        driver = f" ({DRIVERS.get(row['driver'], row['driver'])})" if shown else ""
        place = f", {row['environment']}" if self.places else ""
        return f"{row['client']} {row['client_version']}{driver}{place}"

    def fault(self, row: Row) -> str:
        """That of the row's case; of a row whose case did not run, none is known."""
        return self.faults.get(key_of(row), NO_FAULT)

    def verdict(self, row: Row) -> str:
        """That of the row's case."""
        return self.verdicts.get(key_of(row), "skipped")
