"""Settings that keep a time within a budget, none below what a healthy path needs: solved over formulas alone.

Time-outs are capped at the same multiple of what a healthy path needs, the largest that is enough: that leaves every
healthy call the same margin. Counts are lowered one at a time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from harness.explaining.configured_case import ConfiguredCase
from harness.explaining.healthy_path import HealthyPath
from harness.explaining.setting_values import lower_counts, rounded_down

Objective = Callable[[ConfiguredCase], float | None]
"""A time by formula, in seconds; None where no formula holds."""
MOST_DURATIONS = 3
"""More time-outs are never changed at once."""
MOST_SETTINGS = 8
"""So many of the settings that cost most are tried."""
PAUSE_SHARE = 0.1
"""A pause between tries, and any other duration that no peer needs, keeps at least this part of its value."""
STEPS = 14
"""Halvings of the range in which the multiple lies: proposed values are round anyway."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """`margin`: every changed time-out is at least so many times what a healthy path needs; inf without any."""

    changes: Mapping[str, float]
    margin: float


@dataclass(frozen=True, slots=True)
class Search:
    """For one objective. `durations` and `counts` name the settings that may change, the most promising first."""

    configured_case: ConfiguredCase
    objective: Objective
    healthy: HealthyPath
    durations: Sequence[str]
    counts: Sequence[str]

    def candidates(self, target_s: float) -> tuple[Candidate, ...]:
        """The fewest changes first, then the widest margin. None contains another."""
        found: list[Candidate] = []
        for lowered in self._lowered(target_s):
            base = self.configured_case.with_values(lowered)
            if base is None:
                continue
            for size in range(MOST_DURATIONS + 1):
                for names in combinations(self.durations[:MOST_SETTINGS], size):
                    capped = self._capped(base, names, target_s)
                    if capped is not None:
                        found.append(Candidate({**lowered, **capped.changes}, capped.margin))
        found.sort(key=lambda one: (len(one.changes), -one.margin))
        minimal: list[Candidate] = []
        for one in found:
            if not any(other.changes.keys() <= one.changes.keys() for other in minimal):
                minimal.append(one)
        return tuple(minimal)

    def shortest_s(self) -> float | None:
        """The least that can be reached safely: every time-out at what a healthy path needs, any one count lowered."""
        times: list[float] = []
        for lowered in self._lowered(0.0):
            base = self.configured_case.with_values(lowered)
            at_least = None if base is None else base.with_values(self._values(base, self.durations, 1.0))
            seconds = None if at_least is None else self.objective(at_least)
            times += [seconds] if seconds is not None else []
        return min(times, default=None)

    def least_s(self, name: str) -> float:
        """The shortest that this duration may become."""
        setting = self.configured_case.profile.settings.find(name, self.configured_case.plan.client.version)
        value = self.configured_case.settings[name].value or 0.0
        return self.healthy.least_s(setting.limits) if setting.limits else value * PAUSE_SHARE

    def _capped(self, base: ConfiguredCase, names: Sequence[str], target_s: float) -> Candidate | None:
        """These durations at the largest multiple of what they need that keeps within the target."""
        if any((base.settings[name].value or 0.0) <= self.least_s(name) for name in names):
            return None  # it cannot be any shorter
        low = 1.0
        if not self._within(base, names, low, target_s):
            return None
        high = max(((base.settings[name].value or 0.0) / self.least_s(name) for name in names), default=1.0)
        for _ in range(STEPS if names else 0):
            middle = (low * high) ** 0.5
            if self._within(base, names, middle, target_s):
                low = middle
            else:
                high = middle
        values = {
            name: value
            for name, value in self._values(base, names, low).items()
            if value < (base.settings[name].value or 0.0)
        }
        if len(values) < len(names):
            return None  # another candidate has fewer
        margins = [values[name] / self.least_s(name) for name in names if self._is_limit(name)]
        return Candidate(values, min(margins, default=float("inf")))

    def _within(self, base: ConfiguredCase, names: Sequence[str], multiple: float, target_s: float) -> bool:
        changed = base.with_values(self._values(base, names, multiple))
        seconds = None if changed is None else self.objective(changed)
        return seconds is not None and seconds <= target_s + 1e-9

    def _values(self, base: ConfiguredCase, names: Sequence[str], multiple: float) -> dict[str, float]:
        found: dict[str, float] = {}
        for name in names:
            least_s, value = self.least_s(name), base.settings[name].value or 0.0
            wanted = multiple * least_s
            found[name] = value if value <= wanted or value <= least_s else rounded_down(wanted, least=least_s)
        return found

    def _is_limit(self, name: str) -> bool:
        return bool(self.configured_case.profile.settings.find(name, self.configured_case.plan.client.version).limits)

    def _lowered(self, target_s: float) -> Iterator[dict[str, float]]:
        """No count; then each at the highest lower value that is enough by itself, else at the quickest."""
        yield {}
        now_s = self.objective(self.configured_case)
        for name in self.counts:
            times: dict[int, float] = {}
            for value in lower_counts(int(self.configured_case.settings[name].value or 0)):
                changed = self.configured_case.with_values({name: value})
                seconds = None if changed is None else self.objective(changed)
                if seconds is not None and now_s is not None and seconds < now_s:
                    times[value] = seconds
            if times:
                enough = [value for value, seconds in times.items() if seconds <= target_s]
                yield {name: float(max(enough) if enough else min(times, key=lambda one: (times[one], -one)))}
