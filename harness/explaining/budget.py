"""Which settings keep the time within a budget: solved over the formula's own settings, each way tried in a run.

Durations shrink so that the sum of their squared relative changes (on a logarithmic scale: halving counts as much as
doubling) is least, and so that few of them change at all. Counts are lowered one at a time.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from harness.explaining.simulated import Laboratory, Trial
from harness.explaining.situation import Answer, Situation, answer_of, conditions, settings_in
from harness.explaining.values import lower_counts, rounded_down

PRICE = 4.0
"""To change one setting more costs as much as to change one by the factor e**2, about 7."""
MOST_SETTINGS = 8
LEAST_S = 0.001
ROUNDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """`aim_s` is `limit_s` less what a run may take beyond its formula. `ways` are sorted: least change first; those
    whose run did not keep within the limit are in `failed`."""

    limit_s: float
    aim_s: float
    met: bool
    ways: tuple[Trial, ...] = ()
    failed: tuple[Trial, ...] = ()


def budget(situation: Situation, answer: Answer, limit_s: float, laboratory: Laboratory) -> Budget:
    """Every way that was found, and tried."""
    relative, absolute_s = answer.expectation.within_relative, answer.expectation.within_absolute
    aim_s = (limit_s - absolute_s) / (1 + relative)
    if answer.seconds <= aim_s:
        return Budget(limit_s=limit_s, aim_s=aim_s, met=True)
    measure = answer.cited.measure
    trials: list[Trial] = []
    for changes in _ways(situation, answer, aim_s):
        trial = laboratory.attempt(situation, measure, changes)
        if trial is not None:
            trials.append(trial)
    ways = tuple(t for t in trials if t.agrees and t.run.seconds is not None and t.run.seconds <= limit_s)
    failed = tuple(trial for trial in trials if trial not in ways)
    return Budget(limit_s=limit_s, aim_s=aim_s, met=False, ways=ways, failed=failed)


def _ways(situation: Situation, answer: Answer, aim_s: float) -> Iterator[dict[str, float]]:
    """Durations alone; then each count lowered, with the durations that have to shrink besides."""
    durations = shrunk(situation, answer, aim_s)
    if durations is not None:
        yield durations
    for name, value in _lowered(situation, answer, aim_s):
        lower = situation.with_settings({name: value})
        other = answer_of(lower, answer.cited.measure)
        if lower is None or other is None:
            continue
        more = {} if other.seconds <= aim_s else shrunk(lower, other, aim_s)
        if more is not None:
            yield {name: value, **more}


def _lowered(situation: Situation, answer: Answer, aim_s: float) -> Iterator[tuple[str, float]]:
    """Counts of the formula or of its conditions, at the highest lower value that meets the aim by itself, else at
    the one that takes least time."""
    measure = answer.cited.measure
    texts = [answer.cited.formula.text, *conditions(situation, measure)]
    names = dict.fromkeys(name for text in texts for name in settings_in(text, situation.plan))
    for name in names:
        setting = situation.settings[name]
        if setting.unit != "count":
            continue
        times: dict[int, float] = {}
        for value in lower_counts(int(setting.value or 0)):
            other = answer_of(situation.with_settings({name: value}), measure)
            if other is not None and other.seconds < answer.seconds:
                times[value] = other.seconds
        if times:
            enough = [value for value, seconds in times.items() if seconds <= aim_s]
            yield name, float(max(enough) if enough else min(times, key=lambda value: (times[value], -value)))


def shrunk(situation: Situation, answer: Answer, aim_s: float) -> dict[str, float] | None:
    """Shorter durations with which the formula comes to at most `aim_s`, rounded down to two digits; None: none do."""
    terms = [t for t in answer.evaluated.terms if t.setting and t.total > 0]
    totals = {str(t.setting): t.total for t in sorted(terms, key=lambda t: -t.total)[:MOST_SETTINGS]}
    best: tuple[float, dict[str, float]] | None = None
    for size in range(1, len(totals) + 1):
        for names in combinations(totals, size):
            found = _fitted(situation, answer, {name: totals[name] for name in names}, aim_s)
            if found is not None:
                cost = size * PRICE + sum(_relative(situation, name, value) ** 2 for name, value in found.items())
                if best is None or cost < best[0] - 1e-9:
                    best = cost, found
    return best[1] if best is not None else None


def _relative(situation: Situation, name: str, value: float) -> float:
    return math.log(value / (situation.settings[name].value or value))


def _fitted(situation: Situation, answer: Answer, totals: Mapping[str, float], aim_s: float) -> dict[str, float] | None:
    """These settings alone, shrunk as little as is enough. A formula that is no plain sum is approached in rounds."""
    room_s = aim_s - (answer.seconds - sum(totals.values()))
    for _ in range(ROUNDS):
        if room_s <= 0:
            return None
        factors = least_change(tuple(totals.values()), room_s)
        values = {
            name: rounded_down((situation.settings[name].value or 0.0) * factor)
            for name, factor in zip(totals, factors, strict=True)
        }
        if min(values.values()) < LEAST_S:
            return None
        changed = answer_of(situation.with_settings(values), answer.cited.measure)
        if changed is None:
            return None
        if changed.seconds <= aim_s:
            return values
        room_s -= changed.seconds - aim_s
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
