"""How often the gate is wrong: alarms and doubts where nothing changed, and slow-downs that it does not find.

Suites of 14 scenarios are drawn from runs that were really made on real sockets (bench/data/gate_runs.json, how it was
made: tools/gate_recording.py). Each suite takes one case of every scenario, and 20 runs of it for either side. Where
nothing changed, both sides come from the same runs; a slow-down makes the longest time of one case 10 % + 100 ms
longer in each run of the later side.

    .venv/bin/python bench/gate_errors.py [--null 2000] [--slower 1000] [--runs 20]
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from random import Random
from typing import Any

from harness.comparing.cases import CaseRuns, SuiteRuns
from harness.comparing.samples import Sample, Unit
from harness.comparing.shifts import comparable_measures
from harness.comparing.suite_runs import DIGITS
from harness.comparing.symptoms import Symptom
from harness.gating.gate import gate
from harness.records.case_key import CaseKey
from harness.stats import median, share_interval

RUNS = Path(__file__).parent / "data" / "gate_runs.json"
MAX_ALARM_RATE = 0.01
MAX_FALSE_EXIT_RATE = 0.03
"""Of suites in which nothing changed, those that end with an exit code other than 0."""
MIN_DETECTION_RATE = 0.95
SLOWDOWN_FACTOR, SLOWDOWN_S = 0.10, 0.100
ALPHA = 0.05
Values = Sequence[float | str | None]


@dataclass(frozen=True, slots=True)
class RunPool:
    """The runs of one case, column by column."""

    key: CaseKey
    operations: tuple[str, ...]
    timer_lag_s: Sequence[float]
    happened: Mapping[Symptom, Sequence[int]]
    measures: Mapping[str, tuple[Unit, Values]]

    def draw(self, random: Random, runs: int, *, slower: str | None = None) -> CaseRuns:
        """So many runs with replacement; `slower` names the measure that takes longer in them."""
        return self.of(random.choices(range(len(self.timer_lag_s)), k=runs), slower=slower)

    def of(self, chosen: Sequence[int], *, slower: str | None = None, extra_s: Sequence[float] = ()) -> CaseRuns:
        """The runs of these numbers. Each measured time is longer by the run's entry in `extra_s`."""
        added = extra_s or [0.0] * len(chosen)
        samples = {
            measure: _sample(
                unit,
                [_delayed(values[n], more if unit == "s" else 0.0) for n, more in zip(chosen, added, strict=True)],
                slower=measure == slower,
            )
            for measure, (unit, values) in self.measures.items()
        }
        return CaseRuns(
            key=self.key,
            runs=len(chosen),
            counted=len(chosen),
            samples={measure: sample for measure, sample in samples.items() if len(sample)},
            happened={one: times for one, flags in self.happened.items() if (times := sum(flags[n] for n in chosen))},
            operations=self.operations,
            timer_lag_s=median(self.timer_lag_s[n] for n in chosen),
        )


def _delayed(value: float | str | None, more: float) -> float | str | None:
    """Bounds are what the lab waited for, and times of nothing stay so: neither is longer on a slow machine."""
    return round(value + more, DIGITS) if isinstance(value, float | int) and value else value


def _sample(unit: Unit, values: Values, *, slower: bool) -> Sample:
    def taken(seconds: float) -> float:
        return seconds * (1 + SLOWDOWN_FACTOR) + SLOWDOWN_S if slower else seconds

    ended = sorted(taken(value) for value in values if isinstance(value, float | int))
    bounds = sorted(taken(float(value)) for value in values if isinstance(value, str))
    return Sample(unit, tuple(ended), tuple(bounds))


@lru_cache(maxsize=1)
def pools() -> dict[str, list[RunPool]]:
    """By scenario."""
    found: dict[str, list[RunPool]] = {}
    for case in json.loads(RUNS.read_text(encoding="utf-8"))["cases"]:
        pool = _pool(case)
        found.setdefault(pool.key.scenario, []).append(pool)
    return found


def _pool(case: dict[str, Any]) -> RunPool:
    scenario, client, version, driver, environment, parameters = case["name"]
    columns = {key.partition(" ")[::2]: values for key, values in case.items()}
    return RunPool(
        key=CaseKey(scenario, client, version, driver, environment, tuple((name, text) for name, text in parameters)),
        operations=tuple(case["operations"]),
        timer_lag_s=case["late_s"],
        happened={Symptom.parse(rest): flags for (kind, rest), flags in columns.items() if kind == "happened"},
        measures={
            rest: ("s" if kind == "s" else "count", values)
            for (kind, rest), values in columns.items()
            if kind in ("s", "count") and rest
        },
    )


def null_suite(runs: int, number: int) -> str:
    """One suite in which nothing changed: what the gate says of it."""
    random = Random(f"null {number}")
    chosen = [random.choice(cases) for cases in pools().values()]
    gated = gate(*(side([pool.draw(random, runs) for pool in chosen]) for _ in range(2)))
    return "alarm" if gated.regressed else "unsure" if gated.inconclusive else "unchanged"


def slower_suite(runs: int, number: int) -> str:
    """One suite in which one case became slower: whether the gate finds it."""
    random = Random(f"slower {number}")
    chosen = [random.choice(cases) for cases in pools().values()]
    victim = chosen[number % len(chosen)]
    before = [pool.draw(random, runs) for pool in chosen]
    now = [pool.draw(random, runs, slower=longest_measure(pool) if pool is victim else None) for pool in chosen]
    gated = gate(side(before), side(now))
    found = any(one.key == victim.key for one in gated.cases_assessed("regression"))
    return "found" if found else f"missed {victim.key.scenario}"


def longest_measure(pool: RunPool) -> str:
    """The time that a slow-down shows in, of those that the gate looks at: one that most runs see the end of."""
    whole = pool.draw(Random(0), 200)
    times = [
        name
        for name in comparable_measures(whole, whole)
        if whole.samples[name].unit == "s" and len(whole.samples[name].values) > len(whole.samples[name].censored)
    ]
    return max(times, key=lambda name: whole.samples[name].median)


def side(cases: Sequence[CaseRuns]) -> SuiteRuns:
    """These cases as a suite."""
    return SuiteRuns(source="drawn", machine="", faultlab="", cases=tuple(cases))


def _rate_line(word: str, count: int, of: int, target: str) -> str:
    seen = share_interval(count, of, chance=ALPHA)
    return f"{word}: {count} of {of}, {count / of:.2%} [{seen.low:.2%} .. {seen.high:.2%}], asked for: {target}"


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where all three promises are kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--null", type=int, default=2000, help="suites in which nothing changed")
    parser.add_argument("--slower", type=int, default=1000, help="suites in which one case became slower")
    parser.add_argument("--runs", type=int, default=20, help="runs of each case on either side")
    given = parser.parse_args(arguments)
    cases = [pool for found in pools().values() for pool in found]
    print(
        f"{len(pools())} scenarios, {len(cases)} cases, {sum(len(pool.timer_lag_s) for pool in cases)} real local runs"
    )
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as workers:
        null = Counter(workers.map(partial(null_suite, given.runs), range(given.null), chunksize=20))
        slower = Counter(workers.map(partial(slower_suite, given.runs), range(given.slower), chunksize=20))
    print(
        _rate_line(
            "suites with an alarm where nothing changed", null["alarm"], given.null, f"at most {MAX_ALARM_RATE:.0%}"
        )
    )
    failing = null["alarm"] + null["unsure"]
    print(
        _rate_line(
            "suites with an exit code other than 0 where nothing changed", failing, given.null,
            f"at most {MAX_FALSE_EXIT_RATE:.0%}",
        )
    )  # fmt: skip
    found = f"slow-downs of {SLOWDOWN_FACTOR:.0%} + {SLOWDOWN_S * 1000:.0f} ms that were found"
    print(_rate_line(found, slower["found"], given.slower, f"at least {MIN_DETECTION_RATE:.0%}"))
    for word, number in slower.most_common():
        if word != "found":
            print(f"  {word}: {number}")
    kept = (
        null["alarm"] / given.null <= MAX_ALARM_RATE,
        failing / given.null <= MAX_FALSE_EXIT_RATE,
        slower["found"] / given.slower >= MIN_DETECTION_RATE,
    )
    return 0 if all(kept) else 1


if __name__ == "__main__":
    raise SystemExit(main())
