"""Which settings keep the time within a budget: solved over the formula's own settings, each way tried in a run.

Durations shrink so that the sum of their squared relative changes (on a logarithmic scale: halving counts as much as
doubling) is least, and so that few of them change at all. Counts are lowered one at a time.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from harness.explaining.configured_case import ConfiguredCase, Prediction, conditions, prediction_for, settings_in
from harness.explaining.setting_values import lower_counts, rounded_down
from harness.explaining.simulated import Simulator, Trial

COST_PER_SETTING = 4.0
"""To change one setting more costs as much as to change one by the factor e**2, about 7."""
MOST_SETTINGS = 8
LEAST_S = 0.001
ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """`target_s` is `limit_s` less what a run may take beyond its formula. `solutions` are sorted: least change
    first; those whose run did not keep within the limit are in `failed`."""

    limit_s: float
    target_s: float
    met: bool
    solutions: tuple[Trial, ...] = ()
    failed: tuple[Trial, ...] = ()


def budget(configured_case: ConfiguredCase, prediction: Prediction, limit_s: float, simulator: Simulator) -> Budget:
    """Every way that was found, and tried."""
    relative, absolute_s = prediction.expectation.within_relative, prediction.expectation.within_absolute
    target_s = (limit_s - absolute_s) / (1 + relative)
    if prediction.seconds <= target_s:
        return Budget(limit_s=limit_s, target_s=target_s, met=True)
    measure = prediction.cited.measure
    trials: list[Trial] = []
    for changes in _candidate_changes(configured_case, prediction, target_s):
        trial = simulator.try_changes(configured_case, measure, changes)
        if trial is not None:
            trials.append(trial)
    solutions = tuple(t for t in trials if t.agrees and t.run.seconds is not None and t.run.seconds <= limit_s)
    failed = tuple(trial for trial in trials if trial not in solutions)
    return Budget(limit_s=limit_s, target_s=target_s, met=False, solutions=solutions, failed=failed)


def _candidate_changes(
    configured_case: ConfiguredCase, prediction: Prediction, target_s: float
) -> Iterator[dict[str, float]]:
    """Durations alone; then each count lowered, with the durations that have to shrink besides."""
    durations = shortened_durations(configured_case, prediction, target_s)
    if durations is not None:
        yield durations
    for name, value in _lowered(configured_case, prediction, target_s):
        lower = configured_case.with_settings({name: value})
        other = prediction_for(lower, prediction.cited.measure)
        if lower is None or other is None:
            continue
        more = {} if other.seconds <= target_s else shortened_durations(lower, other, target_s)
        if more is not None:
            yield {name: value, **more}


def _lowered(configured_case: ConfiguredCase, prediction: Prediction, target_s: float) -> Iterator[tuple[str, float]]:
    """Counts of the formula or of its conditions, at the highest lower value that meets the aim by itself, else at
    the one that takes least time."""
    measure = prediction.cited.measure
    texts = [prediction.cited.formula.text, *conditions(configured_case, measure)]
    names = dict.fromkeys(name for text in texts for name in settings_in(text, configured_case.plan))
    for name in names:
        setting = configured_case.settings[name]
        if setting.unit != "count":
            continue
        times: dict[int, float] = {}
        for value in lower_counts(int(setting.value or 0)):
            other = prediction_for(configured_case.with_settings({name: value}), measure)
            if other is not None and other.seconds < prediction.seconds:
                times[value] = other.seconds
        if times:
            enough = [value for value, seconds in times.items() if seconds <= target_s]
            yield name, float(max(enough) if enough else min(times, key=lambda value: (times[value], -value)))


def shortened_durations(
    configured_case: ConfiguredCase, prediction: Prediction, target_s: float
) -> dict[str, float] | None:
    """Shorter durations with which the formula comes to at most `target_s`, rounded down to two digits; None: none
    do."""
    terms = [t for t in prediction.evaluated.terms if t.setting and t.total > 0]
    totals = {str(t.setting): t.total for t in sorted(terms, key=lambda t: -t.total)[:MOST_SETTINGS]}
    best: tuple[float, dict[str, float]] | None = None
    for size in range(1, len(totals) + 1):
        for names in combinations(totals, size):
            found = _fitted(configured_case, prediction, {name: totals[name] for name in names}, target_s)
            if found is not None:
                cost = size * COST_PER_SETTING + sum(
                    _relative(configured_case, name, value) ** 2 for name, value in found.items()
                )
                if best is None or cost < best[0] - 1e-9:
                    best = cost, found
    return best[1] if best is not None else None


def _relative(configured_case: ConfiguredCase, name: str, value: float) -> float:
    return math.log(value / (configured_case.settings[name].value or value))


def _fitted(
    configured_case: ConfiguredCase, prediction: Prediction, totals: Mapping[str, float], target_s: float
) -> dict[str, float] | None:
    """These settings alone, shrunk as little as is enough. A formula that is no plain sum is approached in rounds."""
    room_s = target_s - (prediction.seconds - sum(totals.values()))
    for _ in range(ROUNDS):
        if room_s <= 0:
            return None
        factors = least_change(tuple(totals.values()), room_s)
        values = {
            name: rounded_down((configured_case.settings[name].value or 0.0) * factor)
            for name, factor in zip(totals, factors, strict=True)
        }
        if min(values.values()) < LEAST_S:
            return None
        changed = prediction_for(configured_case.with_settings(values), prediction.cited.measure)
        if changed is None:
            return None
        if changed.seconds <= target_s:
            return values
        room_s -= changed.seconds - target_s
    return None


def least_change(totals: Sequence[float], room: float) -> tuple[float, ...]:
    """Factors, at most 1, with sum(total*factor) == room and the least sum of squared logarithms.

    At the optimum -ln(factor) is in proportion to total*factor (Lagrange); the proportion is found by bisection.
    """
    if sum(totals) <= room:
        return tuple(1.0 for _ in totals)

    def factors(pull: float) -> tuple[float, ...]:
        return tuple(math.exp(-lambert_w(pull * total)) for total in totals)

    low, high = 0.0, 1.0
    while sum(t * f for t, f in zip(totals, factors(high), strict=True)) > room:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        if sum(t * f for t, f in zip(totals, factors(middle), strict=True)) > room:
            low = middle
        else:
            high = middle
    return factors(high)


def lambert_w(x: float) -> float:
    """w with w*exp(w) == x, for x >= 0 (Newton)."""
    w = math.log1p(x)
    for _ in range(50):
        step = (w * math.exp(w) - x) / (math.exp(w) * (w + 1))
        w -= step
        if abs(step) < 1e-14 * (1 + w):
            break
    return w
