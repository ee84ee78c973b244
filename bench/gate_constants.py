"""What each constant of the gate's rule is worth: how often it would be wrong with another one, or without it.

Alarms are counted over suites in which nothing changed, under what `bench/gate_other_data.py` does to the times; what
is found over slow-downs of 10 % + 100 ms. A constant on whose very value much depended would be tuned to these runs.

    .venv/bin/python -m bench.gate_constants [--suites 40]
"""

import argparse
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from random import Random

from bench.gate_errors import longest_measure
from bench.gate_other_data import VARIATIONS, Variation, one_of_each
from harness.comparing.cases import CaseRuns
from harness.comparing.floor import DEFAULT_FLOOR, Floor
from harness.comparing.shifts import UNCERTAINTY, comparable_measures, floor_for_sample
from harness.gating.assessment import ALARM_Q_VALUE
from harness.stats.bootstrap import bootstrapped_shift
from harness.stats.ranks import mann_whitney_p_value
from harness.stats.shift import shift
from harness.stats.significance import false_discovery_rates

SUITES = 40
NOISE = ("as measured", "from one half of the recording", "slow episodes of 4 runs, 30 ms")
LEVELS = (ALARM_Q_VALUE, 0.05)
INTERVALS = (0.01, 0.05, UNCERTAINTY, 0.2)
FLOORS = (Floor(relative=0.02, absolute_s=0.01), DEFAULT_FLOOR, Floor(relative=0.08, absolute_s=0.05))


@dataclass(frozen=True, slots=True)
class MeasureDifference:
    """A time of one case on both sides, as the gate has it: `timer_lag_s` is added to its floor."""

    case: CaseRuns
    now: CaseRuns
    measure: str
    timer_lag_s: float
    rate: float = 1.0

    @property
    def values(self) -> tuple[Sequence[float], Sequence[float]]:
        return self.case.samples[self.measure].values, self.now.samples[self.measure].values

    def above(self, floor: Floor, uncertainty: float | None) -> bool:
        """Whether its interval lies above the floor; None: whether the shift itself does."""
        least = floor_for_sample(self.case.samples[self.measure], floor, self.timer_lag_s)
        if shift(*self.values) <= least:
            return False
        return uncertainty is None or bootstrapped_shift(*self.values, chance=uncertainty).low > least


def measure_differences(before: Sequence[CaseRuns], now: Sequence[CaseRuns]) -> list[MeasureDifference]:
    """All times that ended, with their rates."""
    found = [
        MeasureDifference(case, other, name, abs(other.timer_lag_s - case.timer_lag_s))
        for case, other in zip(before, now, strict=True)
        for name in comparable_measures(case, other)
        if case.samples[name].unit == "s" and not (case.samples[name].censored or other.samples[name].censored)
    ]
    rates = false_discovery_rates([mann_whitney_p_value(*one.values) for one in found])
    return [
        MeasureDifference(o.case, o.now, o.measure, o.timer_lag_s, rate) for o, rate in zip(found, rates, strict=True)
    ]


def null_suite(name: str, number: int) -> Counter[str]:
    """Which rules alarm in one suite in which nothing changed."""
    variation = _variation_named(name)
    random = Random(f"{name} null {number}")
    chosen = one_of_each(random)
    before, now = ([variation.draw(pool, random, variation.runs, None) for pool in chosen] for _ in range(2))
    differences = measure_differences(before, now)
    rule_counts = Counter[str]()
    for level in LEVELS:
        clear = [one for one in differences if one.rate <= level]
        rule_counts[f"test at {level:.0%} alone"] = bool(clear)
        rule_counts[f"test at {level:.0%}, shift above the floor"] = any(
            one.above(DEFAULT_FLOOR, None) for one in clear
        )
        rule_counts[f"test at {level:.0%}, interval above the floor"] = any(
            one.above(DEFAULT_FLOOR, UNCERTAINTY) for one in clear
        )
    rule_counts["shift above the floor alone"] = any(one.above(DEFAULT_FLOOR, None) for one in differences)
    return rule_counts


def slower_suite(number: int) -> Counter[str]:
    """Which rules find the case that became slower."""
    random = Random(f"constants slower {number}")
    chosen = one_of_each(random)
    victim = number % len(chosen)
    measure = longest_measure(chosen[victim])
    runs = VARIATIONS[0].runs
    before = [pool.draw(random, runs) for pool in chosen]
    now = [pool.draw(random, runs, slower=measure if pool is chosen[victim] else None) for pool in chosen]
    mine = [one for one in measure_differences(before, now) if one.case is before[victim] and one.measure == measure]
    rule_counts = Counter[str]()
    for one in mine:
        rule_counts |= {f"test at {level:.0%} alone": int(one.rate <= level) for level in LEVELS}
        for floor in FLOORS:
            for uncertainty in INTERVALS:
                rule = f"test at {ALARM_Q_VALUE:.0%}, interval of {1 - uncertainty:.0%} above {floor}"
                rule_counts[rule] = one.rate <= ALARM_Q_VALUE and one.above(floor, uncertainty)
    return rule_counts


def _variation_named(name: str) -> Variation:
    return next(variation for variation in VARIATIONS if variation.name == name)


def _sum_counts(rule_counts: Iterable[Counter[str]]) -> Counter[str]:
    """Added up; unlike `+`, what never was stays there as 0."""
    whole = Counter[str]()
    for one in rule_counts:
        whole.update(one)
    return whole


def _rows(counted: Sequence[Counter[str]], suites: int) -> Iterator[str]:
    for rule in counted[0]:
        yield f"  {rule:52}" + "".join(f"  {one[rule] / suites:6.1%}" for one in counted)


def main(arguments: Sequence[str] | None = None) -> int:
    """Always 0: what is promised is asked by bench/gate_errors.py."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", type=int, default=SUITES, help="suites of each kind")
    suites = parser.parse_args(arguments).suites
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as workers:
        null = [_sum_counts(workers.map(partial(null_suite, name), range(suites), chunksize=5)) for name in NOISE]
        slower = _sum_counts(workers.map(slower_suite, range(suites), chunksize=5))
    print(f"alarms in {suites} suites in which nothing changed: {' | '.join(NOISE)}")
    print(*_rows(null, suites), sep="\n")
    print(f"found of {suites} slow-downs, as measured")
    print(*_rows([slower], suites), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
