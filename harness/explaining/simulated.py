"""Simulated runs of situations: what a formula says is never printed without having been tried."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.explaining.configured_case import ConfiguredCase, Prediction, prediction_for
from harness.judging import Breakdown, break_down_time, measured
from harness.measures import Censored, MeasuredText, MeasuredValue, Missing, parse
from harness.plan import RunPlan
from harness.story import Story

Simulate = Callable[[RunPlan], Story]
"""Carries a plan into a simulated world."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRun:
    """`seconds` is None where the measure gave nothing: `why` says what happened instead. `error` is what the caller
    got."""

    seconds: float | None
    why: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Some settings at other values: `prediction` is the formula that holds with them (None: none does), `run` what the
    client did."""

    changes: tuple[tuple[str, float], ...]
    texts: tuple[str, ...]
    prediction: Prediction | None
    run: SimulatedRun

    @property
    def predicted_s(self) -> float | None:
        return self.prediction.seconds if self.prediction else None

    @property
    def agrees(self) -> bool:
        """Whether the formula's time is the run's."""
        return self.prediction is not None and agree(self.prediction, self.run)


def agree(prediction: Prediction, run: SimulatedRun) -> bool:
    return run.seconds is not None and abs(run.seconds - prediction.seconds) <= prediction.tolerance_s


class Simulator:
    """Runs situations, each once. `runs` counts them."""

    def __init__(self, simulate: Simulate) -> None:
        self._simulate = simulate
        self._known: dict[tuple[str, str], SimulatedRun] = {}

    @property
    def runs(self) -> int:
        return len(self._known)

    def run(self, configured_case: ConfiguredCase, measure: str) -> SimulatedRun:
        key = (configured_case.plan.run_id, measure)
        if key not in self._known:
            self._known[key] = simulated(configured_case.plan, self._simulate(configured_case.plan), measure)
        return self._known[key]

    def breakdown(self, configured_case: ConfiguredCase, prediction: Prediction) -> Breakdown | None:
        """Where the time went; None where the trace does not say."""
        story = self._simulate(configured_case.plan)
        found = break_down_time(configured_case.plan, story, prediction.expectation)
        return None if isinstance(found, Missing) else found

    def try_changes(self, configured_case: ConfiguredCase, measure: str, changes: dict[str, float]) -> Trial | None:
        """The same situation with these changes; None where the client refuses such a value."""
        changed = configured_case.with_settings(changes)
        if changed is None:
            return None
        now = changed.settings
        return Trial(
            changes=tuple(changes.items()),
            texts=tuple(now[name].text for name in changes),
            prediction=prediction_for(changed, measure),
            run=self.run(changed, measure),
        )


def simulated(plan: RunPlan, story: Story, measure: str) -> SimulatedRun:
    """What the story gives of one measure, in seconds."""
    name = parse(measure)
    error = next((o.error for o in story.operations if o.alias == name.alias), None)
    if story.error is not None:
        return SimulatedRun(seconds=None, why=story.error.text)
    unmet = next((f"`{o.alias}`: {o.unmet}" for o in story.operations if o.unmet and o.alias != name.alias), None)
    if unmet is not None:
        return SimulatedRun(seconds=None, why=unmet)
    match measured(plan, story, name):
        case MeasuredValue(value):
            return SimulatedRun(seconds=value, error=error)
        case Censored(at_least):
            return SimulatedRun(seconds=None, why=f"`{name.alias}` had not ended after {at_least:.3f} s")
        case MeasuredText(text):
            return SimulatedRun(seconds=None, why=f"`{measure}` is {text}, which is no time")
        case Missing(reason):
            return SimulatedRun(seconds=None, why=reason)
