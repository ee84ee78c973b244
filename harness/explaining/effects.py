"""What each setting does to the time, by the formula and in simulated runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.explaining.configured_case import ConfiguredCase, Prediction, conditions, prediction_for, settings_in
from harness.explaining.setting_values import FARTHEST, lower_counts, rounded_down
from harness.explaining.simulated import SimulatedRun, Simulator, Trial
from harness.plan import ResolvedValue

SAME_S = 0.005
"""Simulated times no further apart than this are the same: a round trip takes less."""
PARTS = (2, 10)
"""A duration that is off by default is tried at these parts of the whole time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One setting and what became of the time with other values of it.

    `none`: the same time in every trial, by the formula and in the run. `turning_points` are the nearest values at
    which
    another formula holds, or none does. `beyond_formula` are the trials whose run took another time than the formula
    says.
    """

    setting: str
    in_formula: bool
    trials: tuple[Trial, ...]
    turning_points: tuple[Trial, ...]
    none: bool
    beyond_formula: tuple[Trial, ...]


def effects(
    configured_case: ConfiguredCase, prediction: Prediction, base: SimulatedRun, simulator: Simulator
) -> tuple[Effect, ...]:
    """Of every duration and count of the release: halved and doubled, or switched on where it is 0."""
    measure = prediction.cited.measure
    named = set(settings_in(prediction.cited.formula.text, configured_case.plan))
    decisive = {
        name for text in conditions(configured_case, measure) for name in settings_in(text, configured_case.plan)
    }
    found: list[Effect] = []
    for setting in configured_case.plan.settings:
        if setting.unit not in ("s", "count"):
            continue
        trials = tuple(
            _trials(configured_case, measure, simulator, setting.name, other_values(setting, prediction.seconds))
        )
        turning_points: tuple[Trial, ...] = ()
        if setting.unit == "count" and setting.name in decisive:
            turning_points = tuple(
                _trials(
                    configured_case,
                    measure,
                    simulator,
                    setting.name,
                    turning_values(configured_case, prediction, setting),
                )
            )
        found.append(_effect(setting.name, setting.name in named, trials, turning_points, prediction, base))
    return tuple(found)


def would_hold_with(configured_case: ConfiguredCase, prediction: Prediction, simulator: Simulator) -> Iterator[Trial]:
    """Of settings that the formula does not name, other values (0 too, which is often "off") with which it holds."""
    measure = prediction.cited.measure
    named = set(settings_in(prediction.cited.formula.text, configured_case.plan))
    for setting in configured_case.plan.settings:
        if setting.unit in ("s", "count") and setting.name not in named:
            values = (value for value in (0.0, *other_values(setting, prediction.seconds)) if value != setting.value)
            for trial in _trials(configured_case, measure, simulator, setting.name, values):
                if trial.agrees and trial.predicted_s == prediction.seconds:
                    yield trial
                    break


def other_values(setting: ResolvedValue, total_s: float) -> Iterator[float]:
    """Half and double; of what is switched off, values at which it would be felt if it could be: part of the time."""
    value = setting.value or 0.0
    if setting.unit == "count":
        yield from (value // 2, value * 2) if value >= 1 else (1.0,)
    elif value > 0:
        yield from (value / 2, value * 2)
    else:
        yield from (max(0.001, rounded_down(total_s / part)) for part in PARTS)


def turning_values(configured_case: ConfiguredCase, prediction: Prediction, setting: ResolvedValue) -> Iterator[float]:
    """The nearest lower and higher count at which another formula holds, or none does."""
    value = int(setting.value or 0)
    for candidates in (lower_counts(value), range(value + 1, value + FARTHEST)):
        for candidate in candidates:
            changed = configured_case.with_settings({setting.name: candidate})
            if changed is None:
                break  # the client refuses it, and what lies beyond it
            other = prediction_for(changed, prediction.cited.measure)
            if other is None or other.cited.formula.name != prediction.cited.formula.name:
                yield float(candidate)
                break


def _trials(
    configured_case: ConfiguredCase, measure: str, simulator: Simulator, name: str, values: Iterator[float]
) -> Iterator[Trial]:
    for value in values:
        trial = simulator.try_changes(configured_case, measure, {name: value})
        if trial is not None:
            yield trial


def _effect(
    name: str,
    in_formula: bool,
    trials: tuple[Trial, ...],
    turning_points: tuple[Trial, ...],
    prediction: Prediction,
    base: SimulatedRun,
) -> Effect:
    turned = {trial.changes for trial in turning_points}
    beyond_formula = tuple(trial for trial in trials if not trial.agrees and trial.changes not in turned)
    alike = [trial for trial in trials if trial.changes not in turned]
    none = bool(alike) and all(_same(trial, prediction, base) for trial in alike)
    return Effect(
        setting=name,
        in_formula=in_formula,
        trials=trials,
        turning_points=turning_points,
        none=none,
        beyond_formula=beyond_formula,
    )


def _same(trial: Trial, prediction: Prediction, base: SimulatedRun) -> bool:
    if trial.prediction is None or trial.run.seconds is None or base.seconds is None:
        return False
    return trial.prediction.seconds == prediction.seconds and abs(trial.run.seconds - base.seconds) <= SAME_S
