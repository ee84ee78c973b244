"""The runs of one case as a comparison needs them: samples and counts instead of records.

A results folder and a baseline file both become a `SuiteRuns`, so that no comparison depends on which one it was.
"""

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.comparing.floor import Floor
from harness.comparing.samples import Sample
from harness.comparing.symptoms import Symptom
from harness.records.case_key import CaseKey


def printable(text: str) -> str:
    """The text without control characters, fit for a terminal and a CI log: names of errors may hold anything."""
    plain = " ".join(text.split()) if not text.isprintable() else text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRuns:
    """The runs of a case. `counted` of them were conclusive, the others were not, for these `reasons`.

    `path` is the scenario's file as it was named then, empty where that is not known.
    `samples` by the name of the measure, `happened` in how many of the counted runs, `operations` those that the
    counted runs called. `timer_lag_s` is how late the lab's timers fired.
    """

    key: CaseKey
    runs: int
    counted: int
    reasons: tuple[str, ...] = ()
    samples: Mapping[str, Sample] = field(default_factory=dict)
    happened: Mapping[Symptom, int] = field(default_factory=dict)
    operations: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    timer_lag_s: float = 0.0
    path: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRuns:
    """A suite as one side of a comparison. `source` is what the user named; `arguments` run it again, where known.

    `unfinished` says how many of its runs are missing: it is still running, or was interrupted.
    """

    source: str
    machine: str
    faultlab: str
    cases: tuple[CaseRuns, ...]
    arguments: tuple[str, ...] = ()
    floor: Floor | None = None
    set_aside: tuple[str, ...] = ()
    unfinished: str = ""

    @property
    def by_key(self) -> dict[CaseKey, CaseRuns]:
        return {case.key: case for case in self.cases}

    @property
    def simulated(self) -> bool:
        """On virtual time alone: no machine makes it faster or slower."""
        return all(case.key.environment == "sim" for case in self.cases)


def select_scenarios(side: SuiteRuns, only: Sequence[str]) -> SuiteRuns:
    """The cases of scenarios that match one of the patterns; all of them without any."""
    if not only:
        return side
    return replace(side, cases=tuple(case for case in side.cases if matches(case.key.scenario, only)))


def matches(scenario: str, only: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(scenario, pattern) for pattern in only)


def different_machines(before: SuiteRuns, now: SuiteRuns) -> bool:
    """Whether their times are those of two machines. Virtual time is the same everywhere."""
    return before.machine != now.machine and not (before.simulated and now.simulated)


def settings_changed(before: CaseRuns, now: CaseRuns) -> Iterator[str]:
    """`Net.DialTimeout 1s -> 2s` for each setting that both sides have and that differs."""
    for name in sorted(before.settings.keys() & now.settings.keys()):
        was, text = before.settings[name], now.settings[name]
        if was != text:
            yield f"{name} {was} -> {text}"
