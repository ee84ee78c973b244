"""The same question asked of the client's other releases: what an upgrade costs or saves."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.expectations import Breakdown
from harness.explaining.simulated import Laboratory, Simulated
from harness.explaining.situation import Answer, Asked, Mistaken, Situation, answer_of, situate


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """So many waits more (or fewer, below 0) on `name`, each of `each_s`."""

    name: str
    count: float
    each_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRelease:
    """`why_not` says why nothing is known of it; then all else is None or empty. `answer` is None where no formula
    covers the release: `run` is a measurement all the same."""

    version: str
    answer: Answer | None = None
    run: Simulated | None = None
    breakdown: Breakdown | None = None
    changes: tuple[Change, ...] = ()
    why_not: str | None = None


def other_releases(
    situation: Situation, asked: Asked, answer: Answer, laboratory: Laboratory
) -> Iterator[OtherRelease]:
    """Each other release, oldest first."""
    for version in situation.profile.releases:
        if version == situation.plan.client.version:
            continue
        try:
            other = situate(situation.case, replace(asked, version=version))
        except Mistaken as mistaken:
            yield OtherRelease(version=version, why_not=mistaken.mistakes[0].message)
            continue
        found = answer_of(other, answer.cited.measure)
        yield OtherRelease(
            version=version,
            answer=found,
            run=laboratory.run(other, answer.cited.measure),
            breakdown=laboratory.breakdown(other, found if found is not None else answer),
            changes=changes(answer, found) if found is not None else (),
        )


def changes(before: Answer, after: Answer) -> tuple[Change, ...]:
    """What is waited for more often or less often, in the order of the formulas."""
    counts = {term.text: -(term.count or 0.0) for term in before.evaluated.terms}
    each = {term.text: term.each or 0.0 for term in (*before.evaluated.terms, *after.evaluated.terms)}
    for term in after.evaluated.terms:
        counts[term.text] = counts.get(term.text, 0.0) + (term.count or 0.0)
    return tuple(Change(name=name, count=count, each_s=each[name]) for name, count in counts.items() if count)
