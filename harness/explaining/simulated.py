"""Simulated runs of situations: what a formula says is never printed without having been tried."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.expectations import Breakdown, measured, where_the_time_went
from harness.explaining.situation import Answer, Situation, answer_of
from harness.measures import Censored, Missing, Value, parse
from harness.plan import RunPlan
from harness.story import Story

Simulate = Callable[[RunPlan], Story]
"""Carries a plan into a simulated world."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """`seconds` is None where the measure gave nothing: `why` says what happened instead. `error` is what the caller
    got."""

    seconds: float | None
    why: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Some settings at other values: `answer` is the formula that holds with them (None: none does), `run` what the
    client did."""

    changes: tuple[tuple[str, float], ...]
    texts: tuple[str, ...]
    answer: Answer | None
    run: Simulated

    @property
    def predicted_s(self) -> float | None:
        return self.answer.seconds if self.answer else None

    @property
    def agrees(self) -> bool:
        """Whether the formula's time is the run's."""
        return self.answer is not None and agree(self.answer, self.run)


def agree(answer: Answer, run: Simulated) -> bool:
    return run.seconds is not None and abs(run.seconds - answer.seconds) <= answer.tolerance_s


class Laboratory:
    """Runs situations, each once. `runs` counts them."""

    def __init__(self, simulate: Simulate) -> None:
        self._simulate = simulate
        self._known: dict[tuple[str, str], Simulated] = {}

    @property
    def runs(self) -> int:
        return len(self._known)

    def run(self, situation: Situation, measure: str) -> Simulated:
        key = (situation.plan.run_id, measure)
        if key not in self._known:
            self._known[key] = simulated(situation.plan, self._simulate(situation.plan), measure)
        return self._known[key]

    def breakdown(self, situation: Situation, answer: Answer) -> Breakdown | None:
        """Where the time went; None where the trace does not say."""
        story = self._simulate(situation.plan)
        found = where_the_time_went(situation.plan, story, answer.expectation)
        return None if isinstance(found, Missing) else found

    def attempt(self, situation: Situation, measure: str, changes: dict[str, float]) -> Trial | None:
        """The same situation with these changes; None where the client refuses such a value."""
        changed = situation.with_settings(changes)
        if changed is None:
            return None
        now = changed.settings
        return Trial(
            changes=tuple(changes.items()),
            texts=tuple(now[name].text for name in changes),
            answer=answer_of(changed, measure),
            run=self.run(changed, measure),
        )


def simulated(plan: RunPlan, story: Story, measure: str) -> Simulated:
    """What the story gives of one measure, in seconds."""
    name = parse(measure)
    error = next((o.error for o in story.operations if o.alias == name.alias), None)
    if story.error is not None:
        return Simulated(seconds=None, why=story.error.text)
    unmet = next((f"`{o.alias}`: {o.unmet}" for o in story.operations if o.unmet and o.alias != name.alias), None)
    if unmet is not None:
        return Simulated(seconds=None, why=unmet)
    match measured(plan, story, name):
        case Value(value):
            return Simulated(seconds=value, error=error)
        case Censored(at_least):
            return Simulated(seconds=None, why=f"`{name.alias}` had not ended after {at_least:.3f} s")
        case Missing(reason):
            return Simulated(seconds=None, why=reason)
