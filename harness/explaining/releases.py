"""The same question asked of the client's other releases: what an upgrade costs or saves."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.explaining.configured_case import (
    ConfiguredCase,
    InvalidQuestion,
    Prediction,
    Question,
    configure_case,
    prediction_for,
)
from harness.explaining.simulated import SimulatedRun, Simulator
from harness.judging import Breakdown


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitChange:
    """So many waits more (or fewer, below 0) on `name`, each of `each_s`."""

    name: str
    count: float
    each_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRelease:
    """`why_not` says why nothing is known of it; then all else is None or empty. `prediction` is None where no formula
    covers the release: `run` is a measurement all the same."""

    version: str
    prediction: Prediction | None = None
    run: SimulatedRun | None = None
    breakdown: Breakdown | None = None
    changes: tuple[WaitChange, ...] = ()
    why_not: str | None = None


def other_releases(
    configured_case: ConfiguredCase, question: Question, prediction: Prediction, simulator: Simulator
) -> Iterator[OtherRelease]:
    """Each other release, oldest first."""
    for version in configured_case.profile.releases:
        if version == configured_case.plan.client.version:
            continue
        try:
            other = configure_case(configured_case.case, replace(question, version=version))
        except InvalidQuestion as mistaken:
            yield OtherRelease(version=version, why_not=mistaken.mistakes[0].message)
            continue
        found = prediction_for(other, prediction.cited.measure)
        yield OtherRelease(
            version=version,
            prediction=found,
            run=simulator.run(other, prediction.cited.measure),
            breakdown=simulator.breakdown(other, found if found is not None else prediction),
            changes=changes(prediction, found) if found is not None else (),
        )


def changes(before: Prediction, after: Prediction) -> tuple[WaitChange, ...]:
    """What is waited for more often or less often, in the order of the formulas."""
    counts = {term.text: -(term.count or 0.0) for term in before.evaluated.terms}
    each = {term.text: term.each or 0.0 for term in (*before.evaluated.terms, *after.evaluated.terms)}
    for term in after.evaluated.terms:
        counts[term.text] = counts.get(term.text, 0.0) + (term.count or 0.0)
    return tuple(WaitChange(name=name, count=count, each_s=each[name]) for name, count in counts.items() if count)
