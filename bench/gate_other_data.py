"""Whether what the gate promises hangs on the very data that `bench/gate_errors.py` draws: the same on other data.

Each variation changes one thing: how many runs a side, which scenarios make a suite, or what the machine does to the
times meanwhile. It prints how many suites alarm in which nothing changed, how many of those leave somebody unsure, and
how many slow-downs of 10 % + 100 ms are found.

    .venv/bin/python -m bench.gate_other_data [--suites 40] [--only WORD]
"""

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from random import Random

from bench.gate_errors import ALPHA, MAX_ALARM_RATE, MIN_DETECTION_RATE, RunPool, longest_measure, pools, side
from harness.comparing.cases import CaseRuns
from harness.gating.gate import gate
from harness.stats import share_interval

RUNS = 20
SUITES = 40

Draw = Callable[[RunPool, Random, int, str | None], CaseRuns]
"""(pool, chance, runs, what takes longer): the runs of one case on one side."""


def by_chance(pool: RunPool, random: Random, runs: int, slower: str | None) -> CaseRuns:
    """As bench/gate_errors.py draws them."""
    return pool.draw(random, runs, slower=slower)


def in_blocks(pool: RunPool, random: Random, runs: int, slower: str | None) -> CaseRuns:
    """Five that were made one after the other together: what the machine did then met all of them."""
    there = len(pool.timer_lag_s)
    starts = [random.randrange(there) for _ in range(0, runs, 5)]
    return pool.of([(start + n) % there for start in starts for n in range(5)][:runs], slower=slower)


def from_one_half(pool: RunPool, random: Random, runs: int, slower: str | None) -> CaseRuns:
    """All from one half of the recording: the two sides mostly come from two times."""
    half = len(pool.timer_lag_s) // 2
    first = random.choice((0, half))
    return pool.of(random.choices(range(first, first + half), k=runs), slower=slower)


def in_episodes(pool: RunPool, random: Random, runs: int, slower: str | None) -> CaseRuns:
    """Three runs in ten lie in a slow episode of some four runs, in which all times are some 30 ms longer."""
    slow, more = random.random() < 0.3, list[float]()
    for _ in range(runs):
        more.append(random.expovariate(1 / 0.030) if slow else 0.0)
        slow = random.random() < (0.75 if slow else 0.107)
    return pool.of(_draw_indices(pool, random, runs), slower=slower, extra_s=more)


def bimodal(pool: RunPool, random: Random, runs: int, slower: str | None) -> CaseRuns:
    """Each run by chance waits 500 ms more or not, one in five: a client that draws an order of addresses does."""
    more = [0.5 if random.random() < 0.2 else 0.0 for _ in range(runs)]
    return pool.of(_draw_indices(pool, random, runs), slower=slower, extra_s=more)


def evenly_bimodal(pool: RunPool, random: Random, runs: int, slower: str | None) -> CaseRuns:
    """The same in every second run: the median itself lies on one side by chance."""
    more = [random.choice((0.0, 0.5)) for _ in range(runs)]
    return pool.of(_draw_indices(pool, random, runs), slower=slower, extra_s=more)


def with_outliers(pool: RunPool, random: Random, runs: int, slower: str | None) -> CaseRuns:
    """One run in ten is a stray, seconds late."""
    more = [random.uniform(0.5, 5.0) if random.random() < 0.1 else 0.0 for _ in range(runs)]
    return pool.of(_draw_indices(pool, random, runs), slower=slower, extra_s=more)


def with_common_offset(pool: RunPool, random: Random, runs: int, slower: str | None) -> CaseRuns:
    """All times of a side are up to 10 ms longer, as on a machine that has something else to do."""
    return pool.of(_draw_indices(pool, random, runs), slower=slower, extra_s=[random.uniform(0, 0.010)] * runs)


def _draw_indices(pool: RunPool, random: Random, runs: int) -> list[int]:
    return random.choices(range(len(pool.timer_lag_s)), k=runs)


def one_of_each(random: Random) -> list[RunPool]:
    """One case of every scenario."""
    return [random.choice(cases) for cases in pools().values()]


def without_one(random: Random) -> list[RunPool]:
    """All scenarios but one, each time another one."""
    chosen = one_of_each(random)
    chosen.pop(random.randrange(len(chosen)))
    return chosen


def three_scenarios(random: Random) -> list[RunPool]:
    """A small suite."""
    return random.sample(one_of_each(random), 3)


def one(random: Random) -> list[RunPool]:
    """A suite of a single case."""
    return [random.choice(one_of_each(random))]


def all_cases(random: Random) -> list[RunPool]:
    """Every case of every scenario, in any order."""
    cases = list(chain.from_iterable(pools().values()))
    return random.sample(cases, len(cases))


@dataclass(frozen=True, slots=True)
class Variation:
    """`must_detect`: with so many runs a side and such data slow-downs have to be found, as the gate promises."""

    name: str
    draw: Draw = by_chance
    suite: Callable[[Random], list[RunPool]] = one_of_each
    runs: int = RUNS
    must_detect: bool = True


VARIATIONS = (
    Variation("as measured"),
    Variation("5 runs a side", runs=5, must_detect=False),
    Variation("10 runs a side", runs=10, must_detect=False),
    Variation("40 runs a side", runs=40),
    Variation("without one scenario", suite=without_one),
    Variation("3 scenarios", suite=three_scenarios),
    Variation("1 case", suite=one),
    Variation("all cases", suite=all_cases),
    Variation("blocks of 5 runs", draw=in_blocks),
    Variation("from one half of the recording", draw=from_one_half),
    Variation("slow episodes of 4 runs, 30 ms", draw=in_episodes),
    Variation("a side up to 10 ms later", draw=with_common_offset),
    Variation("1 run in 10 seconds late", draw=with_outliers, must_detect=False),
    Variation("1 run in 5 waits 500 ms more", draw=bimodal, must_detect=False),
    Variation("1 run in 2 waits 500 ms more", draw=evenly_bimodal, must_detect=False),
)


def null_suite(name: str, number: int) -> str:
    """One suite in which nothing changed: what the gate says of it."""
    variation = _variation_named(name)
    random = Random(f"{name} null {number}")
    chosen = variation.suite(random)
    sides = [side([variation.draw(pool, random, variation.runs, None) for pool in chosen]) for _ in range(2)]
    gated = gate(*sides)
    return "alarm" if gated.regressed else "unsure" if gated.inconclusive else "unchanged"


def slower_suite(name: str, number: int) -> str:
    """One suite in which one case became slower: what the gate says of that case."""
    variation = _variation_named(name)
    random = Random(f"{name} slower {number}")
    chosen = variation.suite(random)
    victim = chosen[number % len(chosen)]
    before = [variation.draw(pool, random, variation.runs, None) for pool in chosen]
    now = [
        variation.draw(pool, random, variation.runs, longest_measure(pool) if pool is victim else None)
        for pool in chosen
    ]
    return next(one.assessment for one in gate(side(before), side(now)).compared if one.key == victim.key)


def _variation_named(name: str) -> Variation:
    return next(variation for variation in VARIATIONS if variation.name == name)


def _share(count: int, of: int) -> str:
    seen = share_interval(count, of, chance=ALPHA)
    return f"{count / of:6.1%} [{seen.low:6.1%} .. {seen.high:6.1%}]"


def _run_variations(workers: ProcessPoolExecutor, variations: Sequence[Variation], suites: int) -> Iterator[bool]:
    """Print a row for each. Whether what is promised is not refuted by it."""
    print(f"{'':32}  {'null: alarms':25}  {'unsure':>6}  {'found':25}  {'unsure, noted':>13}")
    for variation in variations:
        null = list(workers.map(partial(null_suite, variation.name), range(suites), chunksize=5))
        slower = list(workers.map(partial(slower_suite, variation.name), range(suites), chunksize=5))
        alarms, found = null.count("alarm"), slower.count("regression")
        print(
            f"{variation.name:32}  {_share(alarms, suites)}  {null.count('unsure') / suites:6.1%}"
            f"  {_share(found, suites)}  {slower.count('unsure') / suites:6.1%} {slower.count('noted') / suites:6.1%}",
            flush=True,
        )
        kept = share_interval(alarms, suites, chance=ALPHA).low <= MAX_ALARM_RATE
        yield kept and (
            not variation.must_detect or share_interval(found, suites, chance=ALPHA).high >= MIN_DETECTION_RATE
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where no variation refutes a promise beyond doubt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", type=int, default=SUITES, help="suites of either kind for each variation")
    parser.add_argument("--only", default="", metavar="WORD", help="variations whose name has it")
    given = parser.parse_args(arguments)
    variations = [variation for variation in VARIATIONS if given.only in variation.name]
    if not variations:
        parser.error(f"no variation has {given.only} in its name: {', '.join(v.name for v in VARIATIONS)}")
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as workers:
        return 0 if all(list(_run_variations(workers, variations, given.suites))) else 1


if __name__ == "__main__":
    raise SystemExit(main())
