"""Every world that a run may be in, behind the steps that were taken so far."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from math import inf
from typing import TypeVar

from harness.brokers.kind import cluster_kind
from harness.cluster_view import ClusterView
from harness.faults.base import FaultModel
from harness.faults.brokers import SelectorError, without_chance
from harness.language.possible_worlds import PossibleWorld, UnclearError
from harness.levers import ChangeCluster, Lever
from harness.operations.create_topics import CREATE_TOPICS
from harness.plan import ClusterShape, PlannedFault, PlannedHealing, PlannedOperation, Step

MOST_WORLDS = 200
Given = TypeVar("Given")
Made = TypeVar("Made")


class StepsSoFar:
    """Its methods raise UnclearError where there are more worlds than can be looked at."""

    def __init__(self, cluster: ClusterShape) -> None:
        """Raises ClusterStateError for a shape that cannot be."""
        model = cluster_kind(cluster.kind).model(cluster)
        self._at_first = model.view
        self._worlds = [PossibleWorld(cluster=model)]
        self._steps: dict[str, tuple[PlannedFault, int]] = {}
        self._came: set[str] = set()
        self._refused: dict[str, SelectorError] = {}

    def prepare(self, steps: Sequence[Step]) -> Iterator[tuple[int, SelectorError]]:
        """What is done for faults before the first step. Yields those for which that fails."""
        for number, step in enumerate(steps):
            if isinstance(step, PlannedFault):
                try:
                    self._worlds = self._prepared(step)
                except SelectorError as error:
                    yield number, error

    def take(self, step: Step, number: int) -> None:
        """Raises SelectorError where the step fails in every world; none has changed then."""
        if step.when.alias is not None:
            self._wait_for(step.when.alias)
        if isinstance(step, PlannedHealing):
            self._worlds = _each(
                self._settled(self._worlds), lambda world: [world.without(step.alias).without_coming(step.alias)]
            )
        if isinstance(step, PlannedOperation) and step.operation == CREATE_TOPICS.name:
            raise UnclearError  # which topics there are shows in the run
        if not isinstance(step, PlannedFault):
            return
        if step.trigger is None:
            worlds = self._settled(self._worlds, besides=self._lasting(step, number))
            self._worlds = _each(worlds, lambda world: self._injected(world, step, gradually=True))
        self._steps[step.alias] = (step, number)
        if step.trigger is not None or step.recurs is not None:
            self._worlds = [replace(one, coming=(*one.coming, step.alias)) for one in self._worlds]

    def _wait_for(self, alias: str) -> None:
        """The step called so is over: a fault with a trigger has been injected."""
        waited = self._steps.get(alias)
        if waited is not None and waited[0].trigger is not None:
            came = [world for world in self._settled(self._worlds) if alias not in world.coming]
            self._worlds = came or self._worlds

    def never_came(self) -> Iterator[tuple[str, SelectorError]]:
        """Faults with a trigger that cannot be injected whenever their request comes."""
        self._settled(self._worlds)
        for alias, error in self._refused.items():
            if alias not in self._came and self._steps[alias][0].trigger is not None:
                yield alias, error

    def _prepared(self, step: PlannedFault) -> list[PossibleWorld]:
        """Raises SelectorError."""
        view = self._at_first
        if not step.fault.beforehand(view):
            return self._worlds

        def prepared(one: tuple[PossibleWorld, FaultModel]) -> list[PossibleWorld]:
            world, fault = one
            for lever in fault.beforehand(view):
                world = world.with_change(lever.change) if isinstance(lever, ChangeCluster) else world
            return [replace(world, prepared=(*world.prepared, (step.alias, _levers(fault, view))))]

        return _each(product(self._worlds, without_chance(step.fault, view)), prepared)

    def _injected(self, world: PossibleWorld, step: PlannedFault, *, gradually: bool = False) -> list[PossibleWorld]:
        """`gradually`: between two levers other faults may be injected or healed. Raises SelectorError."""

        def pulled(levers: tuple[Lever, ...]) -> list[PossibleWorld]:
            worlds = [world]
            for number, lever in enumerate(levers):
                before = self._settled(worlds, besides=step.alias) if gradually and number else worlds
                worlds = _each(before, lambda one: [one.with_pulled(step.alias, lever)])  # noqa: B023
            return worlds

        chosen = [levers for alias, levers in world.prepared if alias == step.alias]
        if not chosen:
            seen = ((fault, view) for view in world.views(step.fault) for fault in without_chance(step.fault, view))
            chosen = _each(seen, lambda one: [_levers(*one)])
        return _each(chosen, pulled)

    def _settled(self, worlds: Iterable[PossibleWorld], besides: str | None = None) -> list[PossibleWorld]:
        """These, and those that they may become by themselves: by faults other than `besides`."""
        found = list(worlds)
        for world in found:
            found += [later for later in self._by_itself(world, besides) if later not in found]
            if len(found) > MOST_WORLDS:
                raise UnclearError
        return found

    def _by_itself(self, world: PossibleWorld, besides: str | None) -> Iterator[PossibleWorld]:
        for alias in world.in_force:
            if alias != besides and _lasts_s(self._steps[alias][0]) < inf:
                with suppress(SelectorError):
                    yield world.without(alias)
        for alias in world.coming:
            step = self._steps[alias][0]
            if alias == besides or alias in world.in_force:
                continue
            try:
                yield from self._injected(world if step.trigger is None else world.without_coming(alias), step)
            except SelectorError as error:
                self._refused.setdefault(alias, error)
            else:
                self._came.add(alias)

    def _lasting(self, step: PlannedFault, number: int) -> str | None:
        """The fault of the step before, where it is in force for certain when this one begins."""
        for alias, (earlier, at) in self._steps.items():
            directly = number == at + 1 and earlier.trigger is None and step.when.alias in (None, alias)
            if directly and step.when.after_s + step.when.spread_s < _lasts_s(earlier):
                return alias
        return None


def _lasts_s(step: PlannedFault) -> float:
    """From its injection until it heals by itself."""
    ends_s = (step.for_s, None if step.recurs is None else step.recurs.every_s)
    return min((after_s for after_s in ends_s if after_s is not None), default=inf)


def _levers(fault: FaultModel, view: ClusterView) -> tuple[Lever, ...]:
    """Those that it pulls. Raises SelectorError."""
    return tuple(stage.lever for stage in fault.stages(view) if not stage.ends)


def _each(given: Iterable[Given], becomes: Callable[[Given], Iterable[Made]]) -> list[Made]:
    """All that these become. Raises the first SelectorError where none becomes anything, UnclearError."""
    made: list[Made] = []
    first: SelectorError | None = None
    for one in given:
        try:
            made += [each for each in becomes(one) if each not in made]
        except SelectorError as error:
            first = first or error
        if len(made) > MOST_WORLDS:
            raise UnclearError
    if not made and first is not None:
        raise first
    return made
