"""Faults that earlier steps make impossible, and healings that are: steps at which every run ends as an error.

A step is refused only if it fails in all worlds that the run can be in by then. A fault that waits for a request, is
healed by time or recurs may have been injected, healed, or injected again before any later step; the one that is healed
by time is in force for certain in the step right behind it alone. Each of a selector's chances makes a world.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.brokers.cluster import ClusterStateError
from harness.faults.brokers import SelectorError
from harness.language.fault_steps import place_of
from harness.language.possible_worlds import UnclearError
from harness.language.steps_so_far import StepsSoFar
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, Tree, at
from harness.plan import ClusterShape, PlannedFault, PlannedHealing, Step
from harness.quantities import quote_value


@dataclass(frozen=True, slots=True)
class Conflict:
    """A step that must fail, and why. `cause` is the step that makes it impossible: an earlier one, or a fault that
    needs the brokers to be absent at first. None where nothing else does."""

    number: int
    """Of the step, from 0."""
    error: SelectorError
    cause: Step | None
    absent: bool = False
    """Whether the cause is a fault that is still to add brokers."""
    at_first: bool = False
    """Whether it fails before the first step."""


def report_conflicts(
    steps: Sequence[Step], trees: Sequence[Tree], cluster: ClusterShape, diagnostics: Diagnostics
) -> None:
    """Note every step that fails in all runs; `trees` are the steps in the file."""
    for found in conflicts(steps, cluster):
        if found.cause is None:
            continue  # it is impossible by itself, which is reported
        tree, error, cause = trees[found.number], found.error, quote_value(found.cause.alias)
        assert isinstance(tree, MappingNode), "a step is a mapping"
        why, hint = f"then: {cause} is in force", f"heal {cause} before"
        if found.at_first:
            why, hint = f"when the run begins: {cause} adds brokers, too", error.hint
        elif found.absent:
            why, hint = f"then: {cause} adds its brokers later", f"inject {cause} before"
        elif isinstance(found.cause, PlannedHealing):
            why, hint = f"then: {cause} is healed", f"heal {cause} later"
        healing = isinstance(steps[found.number], PlannedHealing)
        where = at(tree, ("heal",)) if healing else place_of(error.item, tree)
        diagnostics.add(where, error.code, f"{error} {why}", hint)


def conflicts(steps: Sequence[Step], cluster: ClusterShape) -> Iterator[Conflict]:
    """In the order of the steps."""
    if sum(isinstance(step, PlannedFault) for step in steps) < 2:
        return
    try:
        yield from _conflicts(steps, cluster)
    except (UnclearError, ClusterStateError):  # the latter is a cluster that was reported
        return


def _conflicts(steps: Sequence[Step], cluster: ClusterShape) -> Iterator[Conflict]:
    worlds = StepsSoFar(cluster)
    skipped = dict(worlds.prepare(steps))
    for number, wrong in skipped.items():
        earlier = (steps[one] for one in range(number) if one not in skipped)
        yield Conflict(number, wrong, next((one for one in earlier if _prepares(one, cluster)), None), at_first=True)
    for number, step in enumerate(steps):
        if number in skipped:
            continue
        try:
            worlds.take(step, number)
        except SelectorError as error:
            yield _explained(steps, number, error, cluster)
    for alias, wrong in worlds.never_came():
        numbers = (n for n, step in enumerate(steps) if isinstance(step, PlannedFault) and step.alias == alias)
        yield _explained(steps, next(numbers), wrong, cluster)


def _explained(steps: Sequence[Step], number: int, error: SelectorError, cluster: ClusterShape) -> Conflict:
    """With the step behind which it has been impossible all the time."""
    for before in reversed(range(number)):
        if _is_possible(steps, steps[:before], number, cluster):
            return Conflict(number, error, steps[before])
    for absent in (one for one, step in enumerate(steps) if one != number and _prepares(step, cluster)):
        others = [*steps[:absent], *steps[absent + 1 :]]
        if _is_possible(others, (), number if absent > number else number - 1, cluster):
            return Conflict(number, error, steps[absent], absent=True)
    return Conflict(number, error, None)


def _is_possible(steps: Sequence[Step], earlier: Sequence[Step], number: int, cluster: ClusterShape) -> bool:
    """Whether the step could be taken behind these earlier ones alone."""
    worlds, step = StepsSoFar(cluster), steps[number]
    tuple(worlds.prepare(steps))
    for before, one in enumerate(earlier):
        try:
            worlds.take(one, before)
        except SelectorError:
            continue
    try:
        worlds.take(replace(step, trigger=None) if isinstance(step, PlannedFault) else step, number)
    except SelectorError:
        return False
    return True


def _prepares(step: Step, cluster: ClusterShape) -> bool:
    return isinstance(step, PlannedFault) and bool(step.fault.beforehand(cluster.view()))
