"""What the runs of a scenario found, as plain values for a test, and why a scenario could not run.

Imports nothing but the standard library.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Verdict = Literal["pass", "fail", "inconclusive", "skipped", "lab_error"]


class ScenarioMistakes(ValueError):
    """A scenario is wrong, or cannot be run there: the text has every mistake with its line and column."""


class LabFailed(RuntimeError):
    """The lab itself could not run it, or stopped: this says nothing about the client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One row of where an operation's time went: how often and how long it waited on a setting, beside the formula.

    `setting` is None for a term of the formula that is not a wait; `predicted_count` where the formula has no number of
    times. A `measured_count` counts waits that took all the time they had.
    """

    name: str
    setting: str | None
    predicted_count: float | None
    predicted_s: float
    measured_count: int
    measured_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """A scenario with one set of parameters, all repeats together.

    `measures` are medians over the repeats by their names (`probe.time_to_error`): seconds, or counts. What had not
    ended when the lab gave up stands in `at_least` instead, with its lower bound. `outcomes` (`ok`, `failed`,
    `censored`) and `errors` go by the operations' names, those of the run that stands for the case: the first of the
    worst. `where` is where the time of that run's leading expectation went, empty where the client tells no waits.
    `summary` is a line, `text` what faultlab shows for what did not pass.
    """

    id: str
    scenario: str
    client: str
    client_version: str
    environment: str
    parameters: Mapping[str, str]
    settings: Mapping[str, str]
    verdict: Verdict
    blame: Literal["lab", "subject"] | None
    reasons: tuple[str, ...]
    summary: str
    text: str
    predicted: str | None
    measured: str | None
    measures: Mapping[str, float]
    at_least: Mapping[str, float]
    outcomes: Mapping[str, str]
    errors: Mapping[str, str]
    where: tuple[Wait, ...]
    replay: str

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "CaseResult":
        """From the engine's document."""
        operations, measures, where = document["operations"], document["measures"], document["where"]
        known = {name: m for name, m in measures.items() if m["value"] is not None}
        plain = {name: document[name] for name in cls.__dataclass_fields__ if name in document}
        return cls(
            **{
                **plain,
                "reasons": tuple(document["reasons"]),
                "measures": {name: m["value"] for name, m in known.items() if not m["censored"]},
                "at_least": {name: m["value"] for name, m in known.items() if m["censored"]},
                "outcomes": {alias: operation["outcome"] for alias, operation in operations.items()},
                "errors": {alias: o["error"] for alias, o in operations.items() if o["error"] is not None},
                "where": tuple(Wait(**row) for row in where["rows"]) if where is not None else (),
            }
        )

    def measure(self, name: str) -> float:
        """A measure that was measured. Raises LookupError that says what there is instead."""
        __tracebackhide__ = True
        if name in self.measures:
            return self.measures[name]
        if name in self.at_least:
            raise LookupError(f"{name} had not ended after {self.at_least[name]:.3f} s, when the lab gave up")
        raise LookupError(f"{self.id} measured no {name}; it measured {', '.join(self.measures) or 'nothing'}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A suite's end. `results` is the folder that `faultlab report` and `faultlab replay --in` take.

    The properties are those of the only case; they raise LookupError where there are several.
    """

    verdict: Verdict
    environment: str
    seed: int
    results: Path
    cases: tuple[CaseResult, ...]

    @classmethod
    def of(cls, document: Mapping[str, Any], folder: Path) -> "Result":
        """From the engine's closing document; `folder` is where it stood."""
        cases = tuple(CaseResult.of(case) for case in document["cases"])
        there = {case.verdict for case in cases}
        severity: tuple[Verdict, ...] = ("fail", "lab_error", "inconclusive", "skipped")
        return cls(
            verdict=next((verdict for verdict in severity if verdict in there), "pass" if cases else "inconclusive"),
            environment=document["environment"],
            seed=document["seed"],
            results=folder / document["results"],
            cases=cases,
        )

    def case(self, case_id: str | None = None) -> CaseResult:
        """The case of this id, or the only one. Raises LookupError with the ids that there are."""
        __tracebackhide__ = True
        found = [case for case in self.cases if case_id in (None, case.id)]
        if len(found) != 1:
            raise LookupError(f"name one of the cases: {', '.join(case.id for case in self.cases)}")
        return found[0]

    def measure(self, name: str) -> float:
        """`CaseResult.measure` of the only case."""
        __tracebackhide__ = True
        return self.case().measure(name)

    @property
    def measures(self) -> Mapping[str, float]:
        return self.case().measures

    @property
    def outcomes(self) -> Mapping[str, str]:
        return self.case().outcomes

    @property
    def errors(self) -> Mapping[str, str]:
        return self.case().errors

    @property
    def where(self) -> tuple[Wait, ...]:
        return self.case().where

    @property
    def text(self) -> str:
        """What faultlab shows for what did not pass."""
        return "\n\n".join(case.text for case in self.cases if case.text)
