"""What each setting does to the time: reckoned with the formula and tried in simulated runs, never guessed."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.explaining.simulated import Laboratory, Simulated, Trial
from harness.explaining.situation import Answer, Situation, answer_of, conditions, settings_in
from harness.explaining.values import FARTHEST, lower_counts, rounded_down
from harness.plan import Named

SAME_S = 0.005
"""Simulated times no further apart than this are the same: a round trip takes less."""
PARTS = (2, 10)
"""A duration that is off by default is tried at these parts of the whole time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """One setting and what became of the time with other values of it.

    `none`: the same time in every trial, by the formula and in the run. `turns` are the nearest values at which
    another formula holds, or none does. `beyond` are the trials whose run took another time than the formula says.
    """

    setting: str
    in_formula: bool
    trials: tuple[Trial, ...]
    turns: tuple[Trial, ...]
    none: bool
    beyond: tuple[Trial, ...]


def effects(situation: Situation, answer: Answer, base: Simulated, laboratory: Laboratory) -> tuple[Effect, ...]:
    """Of every duration and count of the release: halved and doubled, or switched on where it is 0."""
    measure = answer.cited.measure
    named = set(settings_in(answer.cited.formula.text, situation.plan))
    decisive = {name for text in conditions(situation, measure) for name in settings_in(text, situation.plan)}
    found: list[Effect] = []
    for setting in situation.plan.settings:
        if setting.unit not in ("s", "count"):
            continue
        trials = tuple(_tried(situation, measure, laboratory, setting.name, other_values(setting, answer.seconds)))
        turns: tuple[Trial, ...] = ()
        if setting.unit == "count" and setting.name in decisive:
            turns = tuple(_tried(situation, measure, laboratory, setting.name, turning(situation, answer, setting)))
        found.append(_effect(setting.name, setting.name in named, trials, turns, answer, base))
    return tuple(found)


def rescues(situation: Situation, answer: Answer, laboratory: Laboratory) -> Iterator[Trial]:
    """Of settings that the formula does not name, other values (0 too, which is often "off") with which it holds."""
    measure = answer.cited.measure
    named = set(settings_in(answer.cited.formula.text, situation.plan))
    for setting in situation.plan.settings:
        if setting.unit in ("s", "count") and setting.name not in named:
            values = (value for value in (0.0, *other_values(setting, answer.seconds)) if value != setting.value)
            for trial in _tried(situation, measure, laboratory, setting.name, values):
                if trial.agrees and trial.predicted_s == answer.seconds:
                    yield trial
                    break


def other_values(setting: Named, total_s: float) -> Iterator[float]:
    """Half and double; of what is switched off, values at which it would be felt if it could be: part of the time."""
    value = setting.value or 0.0
    if setting.unit == "count":
        yield from (value // 2, value * 2) if value >= 1 else (1.0,)
    elif value > 0:
        yield from (value / 2, value * 2)
    else:
        yield from (max(0.001, rounded_down(total_s / part)) for part in PARTS)


def turning(situation: Situation, answer: Answer, setting: Named) -> Iterator[float]:
    """The nearest lower and higher count at which another formula holds, or none does."""
    value = int(setting.value or 0)
    for candidates in (lower_counts(value), range(value + 1, value + FARTHEST)):
        for candidate in candidates:
            changed = situation.with_settings({setting.name: candidate})
            if changed is None:
                break  # the client refuses it, and what lies beyond it
            other = answer_of(changed, answer.cited.measure)
            if other is None or other.cited.formula.name != answer.cited.formula.name:
                yield float(candidate)
                break


def _tried(
    situation: Situation, measure: str, laboratory: Laboratory, name: str, values: Iterator[float]
) -> Iterator[Trial]:
    for value in values:
        trial = laboratory.attempt(situation, measure, {name: value})
        if trial is not None:
            yield trial


def _effect(
    name: str, in_formula: bool, trials: tuple[Trial, ...], turns: tuple[Trial, ...], answer: Answer, base: Simulated
) -> Effect:
    turned = {trial.changes for trial in turns}
    beyond = tuple(trial for trial in trials if not trial.agrees and trial.changes not in turned)
    alike = [trial for trial in trials if trial.changes not in turned]
    none = bool(alike) and all(_same(trial, answer, base) for trial in alike)
    return Effect(setting=name, in_formula=in_formula, trials=trials, turns=turns, none=none, beyond=beyond)


def _same(trial: Trial, answer: Answer, base: Simulated) -> bool:
    if trial.answer is None or trial.run.seconds is None or base.seconds is None:
        return False
    return trial.answer.seconds == answer.seconds and abs(trial.run.seconds - base.seconds) <= SAME_S
