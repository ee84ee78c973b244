"""Times two checkouts in interleaved pairs, and prints how much longer the second one takes, with its 95 % interval.

    .venv/bin/python -m bench.pairs --before ../old --after . --measure help --pairs 10

Pairs go before, after, after, before, ..., so that a machine that becomes slower meanwhile slows both sides alike. The
ratio is the median of the pairs' ratios; its interval is drawn from the pairs by the bootstrap. Processor time is that
of all processes of a command: other programs on the machine change it less than they change the time on the clock.
Without checkouts, this one is compared with itself: what the ratio then differs from 1 by is noise.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Literal

import numpy as np

from bench.inputs.synthetic_records import multiply, simulate_suite

ROOT = Path(__file__).resolve().parents[1]
DRAWS = 10_000
SEED = 20260302
RUNS_A_SECOND = re.compile(r"([\d.]+) whole runs a CPU second")
VERDICT_CODES = (0, 1, 2)
"""Exit codes of commands that did their work: a suite's verdict is not a failure of the command."""
MANY_RUNS, MANY_EVENTS = 10_000, 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A command of Python, run in each checkout. `{suite}` is a results folder of `records`, `{out}` a new folder."""

    about: str
    arguments: tuple[str, ...]
    records: Literal["none", "bundled", "many"] = "none"


MEASURES: Mapping[str, Measure] = {
    "help": Measure(about="faultlab --help", arguments=("-m", "cli", "--help")),
    "sim_runs": Measure(about="one simulated run", arguments=("bench/sim_runs.py", "--seconds", "3")),
    "suite_sim": Measure(
        about="the bundled suite on virtual time",
        arguments=("-m", "cli", "run", "--env", "sim", "--seed", "1", "--out", "{out}"),
    ),
    "report": Measure(
        about="the report of the bundled suite",
        arguments=("-m", "cli", "report", "{suite}", "--out", "{out}"),
        records="bundled",
    ),
    "report10k": Measure(
        about=f"the report of {MANY_RUNS:,} runs",
        arguments=("-m", "cli", "report", "{suite}", "--out", "{out}"),
        records="many",
    ),
}


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as long the second side takes, and where that lies in 95 of 100 such series of pairs."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.3f} [{self.low:.3f} .. {self.high:.3f}]"


def ratio_of(before: Sequence[float], after: Sequence[float]) -> Ratio:
    """Of paired times. Raises ValueError where there are none, or not as many on each side."""
    ratios = np.array([late / early for early, late in zip(before, after, strict=True)])
    if not len(ratios):
        raise ValueError("there are no pairs")
    drawn = np.random.default_rng(SEED).choice(ratios, (DRAWS, len(ratios)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    return Ratio(float(np.median(ratios)), float(low), float(high))


def run_in(checkout: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run Python with the code of a checkout. Raises SystemExit where the command did not do its work."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in VERDICT_CODES:
        raise SystemExit(f"{checkout}: {' '.join(arguments)} ended with {done.returncode}\n{done.stderr[-2000:]}")
    return done


def timed(checkout: Path, measure: Measure, suite: Path | None) -> Mapping[str, float]:
    """Seconds of one command, by clock and by processor; of a benchmark that counts runs, what it says of one run."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [part.format(suite=suite, out=Path(folder) / "out") for part in measure.arguments]
        spent_before_s, began_s = children_s(), perf_counter()
        done = run_in(checkout, arguments)
        wall_s, processor_s = perf_counter() - began_s, children_s() - spent_before_s
    rate = RUNS_A_SECOND.search(done.stdout)
    if rate is not None:
        return {"processor": 1 / float(rate[1])}
    return {"clock": wall_s, "processor": processor_s}


def children_s() -> float:
    """Processor time of the processes that this one has waited for, and of those that they waited for."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def records_for(measure: Measure, folder: Path) -> Path | None:
    """The results folder that both checkouts read, made by this one."""
    if measure.records == "none":
        return None
    suite = simulate_suite(folder / "suite")
    if measure.records == "bundled":
        return suite
    multiply(suite, folder / "many", runs=MANY_RUNS, events=MANY_EVENTS)
    return folder / "many"


def time_pairs(
    checkouts: tuple[Path, Path], measure: Measure, pairs: int, suite: Path | None
) -> tuple[list[Mapping[str, float]], list[Mapping[str, float]]]:
    """What each side took, pair by pair; one command a side goes ahead and does not count: it compiles the modules."""
    for checkout in checkouts:
        if measure.records != "none":
            run_in(checkout, ["-m", "reports.jvm"])  # each side's own archive of Java's classes
        timed(checkout, measure, suite)
    sides: tuple[list[Mapping[str, float]], list[Mapping[str, float]]] = ([], [])
    for number in range(pairs):
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            sides[side].append(timed(checkouts[side], measure, suite))
    return sides


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, default=ROOT, metavar="DIR", help="the checkout that it was")
    parser.add_argument("--after", type=Path, default=ROOT, metavar="DIR", help="the checkout that it is")
    parser.add_argument("--measure", choices=MEASURES, default="help")
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args(arguments)
    if given.pairs < 1:
        parser.error("--pairs takes a number from 1 on")
    measure = MEASURES[given.measure]
    with tempfile.TemporaryDirectory() as name:
        suite = records_for(measure, Path(name))
        before, after = time_pairs((given.before.resolve(), given.after.resolve()), measure, given.pairs, suite)
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    print(f"{measure.about}, {given.pairs} pairs; load {load}")
    for kind in before[0]:
        was, now = ([one[kind] for one in side] for side in (before, after))
        print(f"  {kind:9}  {shown(median(was))} -> {shown(median(now))}  ratio {ratio_of(was, now)}")
    return 0


def shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms"


if __name__ == "__main__":
    raise SystemExit(main())
