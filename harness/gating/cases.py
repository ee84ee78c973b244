"""What the runs of one case left behind, as far as a later suite is held against it: samples and counts, no records.

A results folder and a baseline file both become a `SuiteRuns`, so that nothing behind this file knows which one it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple

from harness.gating.floor import Floor
from harness.stats import median

Unit = Literal["s", "count"]


def printable(text: str) -> str:
    """As it may stand on a terminal and in a CI system's log: who names an error or a setting gives no commands."""
    plain = " ".join(text.split()) if not text.isprintable() else text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in plain)


class CaseName(NamedTuple):
    """What two suites must have in common to be compared: everything but settings, seeds and the machine."""

    scenario: str
    client: str
    version: str
    driver: str
    environment: str
    parameters: tuple[tuple[str, str], ...] = ()

    def without_version(self) -> "CaseName":
        """The same with any release, whether its version is told by the client or by a parameter of the matrix."""
        kept = tuple(parameter for parameter in self.parameters if parameter[0] != "client.version")
        return self._replace(version="", parameters=kept)


class SymptomKind(StrEnum):
    """What can happen in a run or not, the gravest first."""

    LOST = "lost"
    """A message that was acknowledged is not in the log."""
    DUPLICATED = "duplicated"
    """A message stands in the log twice."""
    VERDICT = "verdict"
    """The run fails its expectations."""
    HANGS = "hangs"
    """An operation had not ended when the lab gave up. Its subject is the operation, as of the next ones."""
    FAILS = "fails"
    """An operation ended with an error, or not at all."""
    UNENDED = "unended"
    """A time that is no operation's had not ended. Its subject is the measure."""
    ERROR = "error"
    """An operation's error is of this class: `probe io.EOF`."""
    NOT_MEASURED = "untold"
    """A time that is no operation's could not be told. Its subject is the measure."""
    NOT_CALLED = "uncalled"
    """An operation is called in no run."""


class Symptom(NamedTuple):
    """`Symptom(Kind.HANGS, "probe")`. In a baseline file: `hangs probe`."""

    kind: SymptomKind
    subject: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}".rstrip()

    @classmethod
    def parse(cls, text: str) -> "Symptom":
        """Raises ValueError for a kind that there is not."""
        kind, _, subject = text.partition(" ")
        return cls(SymptomKind(kind), subject)

    @property
    def alias(self) -> str:
        """The operation it is about; empty where it is about the run."""
        return self.subject.partition(" ")[0]


@dataclass(frozen=True, slots=True)
class Sample:
    """One measure over the runs that told it, sorted. `censored` are the lower bounds of those that had not ended."""

    unit: Unit
    values: tuple[float, ...]
    censored: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.values) + len(self.censored)

    def with_censored_as(self, censored_value: float) -> tuple[float, ...]:
        """All of them, each that had not ended as `censored_value`: above every one that did, and equal to its like."""
        return (*self.values, *(censored_value for _ in self.censored))

    @property
    def longest(self) -> float:
        return max((*self.values, *self.censored), default=0.0)

    @property
    def median(self) -> float:
        """The median, with a bound in the place of each time that had not ended."""
        return median((*self.values, *self.censored))


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRuns:
    """The runs of a case. `counted` of them were conclusive; the others told nothing, for these `reasons`.

    `path` is the scenario's file as it was named then, empty where that is not known.
    `samples` by the name of the measure, `happened` in how many of the counted runs, `operations` those that the
    counted runs called. `timer_lag_s` is how late the lab's own timers came.
    """

    name: CaseName
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

    `unfinished` says how many of its runs are not there: it is under way, or was interrupted.
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
    def simulated(self) -> bool:
        """On virtual time alone: no machine makes it faster or slower."""
        return all(case.name.environment == "sim" for case in self.cases)
