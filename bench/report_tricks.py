"""What each trick of the report's start-up and of its Java gains on its own: reports with it, and without it.

    .venv/bin/python -m bench.report_tricks [NAME ...] [--size small|large] [--rounds 10]

A round makes one report with all tricks and one without each of them, in an order drawn anew, so that a machine that
becomes slower meanwhile slows all alike. A gain is what the report takes longer without the trick: the median of the
rounds' ratios with its 95 % interval, by processor time and by the clock. A trick stays in the product where it gains
3 % of one of them. The first line names the PySpark and the Java that the gains are of. On two cores a round of the
small report takes about 7 minutes.

Last measured with PySpark 4.3.0 and Java 17.0.15 on two cores, four rounds each, ratios by processor time and clock:

- the six of the small report gain 5 to 29 % each, by one of the two;
- parallel collector: 1.178 [1.030 .. 1.217], 1.139 [1.067 .. 1.174];
- late optimising compiler: 1.081 [1.010 .. 1.132], 1.032 [0.982 .. 1.081];
- aggregates by hash: 1.037 [0.904 .. 1.109], 1.015 [0.950 .. 1.127].
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from pyspark.sql import SparkSession

import reports.connection
import reports.jvm.class_archive
import reports.jvm.flags
import reports.session
from bench.inputs.synthetic_records import multiply, simulate_suite
from bench.pairs import children_s, ratio_of
from reports.jvm.process import JavaProcess
from reports.jvm.runtime import find_java

WITH_ALL = "with all tricks"
KEPT_FROM = 1.03
SEED = 20260302
RECORDS = {"small": None, "large": (10_000, 1_000_000)}
"""Runs and events; the small size is the bundled suite's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trick:
    """One trick: `switch_off` does away with it in this process, before the report is made."""

    name: str
    size: str
    switch_off: Callable[[], None]


def without_flags(prefix: str) -> Callable[[], None]:
    """Java without the flags that begin so."""

    def switch_off() -> None:
        for size in ("SMALL", "LARGE"):
            flags = getattr(reports.jvm.flags, size)
            setattr(reports.jvm.flags, size, tuple(flag for flag in flags if not flag.startswith(prefix)))

    return switch_off


def without_settings(prefix: str) -> Callable[[], None]:
    """Spark with its own defaults for these settings."""

    def switch_off() -> None:
        for settings in (reports.session.SETTINGS, reports.session.SMALL_SETTINGS, reports.session.LARGE_SETTINGS):
            for name in [name for name in settings if name.startswith(prefix)]:
                del settings[name]

    return switch_off


def without_archive() -> None:
    reports.jvm.class_archive.ClassArchive.use_flags = property(lambda self: ())  # type: ignore[assignment]


def graceful_end() -> None:
    in_order = partial(reports.connection.stop, mode=reports.connection.ShutdownMode.GRACEFUL)

    def stop(java: JavaProcess, spark: SparkSession, *, mode: reports.connection.ShutdownMode) -> None:
        in_order(java, spark)

    reports.connection.stop = stop


TRICKS = (
    Trick(name="class archive", size="small", switch_off=without_archive),
    Trick(name="quick compiler alone", size="small", switch_off=without_flags("-XX:TieredStopAtLevel")),
    Trick(name="serial collector", size="small", switch_off=without_flags("-XX:+UseSerialGC")),
    Trick(name="no code generation", size="small", switch_off=without_settings("spark.sql.codegen")),
    Trick(name="constraints not sought", size="small", switch_off=without_settings("spark.sql.constraint")),
    Trick(name="killed at the end", size="small", switch_off=graceful_end),
    Trick(name="parallel collector", size="large", switch_off=without_flags("-XX:+UseParallelGC")),
    Trick(name="late optimising compiler", size="large", switch_off=without_flags("-XX:Tier4")),
    Trick(name="aggregates by hash", size="large", switch_off=without_settings("spark.sql.objectHashAggregate")),
)


def make_one(name: str, folder: Path, out: Path) -> None:
    """A report in this process, without the trick of that name."""
    for trick in TRICKS:
        if trick.name == name:
            trick.switch_off()
    reports.build([folder], out=out, progress=lambda line: None)


def timed(name: str, folder: Path) -> Mapping[str, float]:
    """Seconds of one report in a new process, with all that it starts."""
    with tempfile.TemporaryDirectory() as out:
        spent_before_s, began_s = children_s(), perf_counter()
        command = [sys.executable, "-m", "bench.report_tricks", "--one", name, str(folder), out]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {"processor": children_s() - spent_before_s, "clock": perf_counter() - began_s}


def time_rounds(names: Sequence[str], folder: Path, rounds: int) -> dict[str, list[Mapping[str, float]]]:
    """What a report without each of them took, round by round. One ahead does not count: it fills the caches."""
    timed(WITH_ALL, folder)
    chance = random.Random(SEED)
    taken: dict[str, list[Mapping[str, float]]] = {name: [] for name in names}
    for number in range(1, rounds + 1):
        for name in chance.sample(names, len(names)):
            taken[name].append(timed(name, folder))
        print(f"round {number} of {rounds}", file=sys.stderr, flush=True)
    return taken


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(trick.name for trick in TRICKS))
    parser.add_argument("--size", choices=RECORDS, default="small")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        make_one(given.one[0], Path(given.one[1]), Path(given.one[2]))
        return 0
    chosen = [trick.name for trick in TRICKS if trick.size == given.size]
    chosen = [name for name in chosen if not given.names or name in given.names]
    with tempfile.TemporaryDirectory() as name:
        folder = simulate_suite(Path(name) / "suite")
        many = RECORDS[given.size]
        if many is not None:
            multiply(folder, Path(name) / "many", runs=many[0], events=many[1])
            folder = Path(name) / "many"
        subprocess.run([sys.executable, "-m", "reports.jvm"], check=True, stdout=subprocess.DEVNULL)
        taken = time_rounds([WITH_ALL, *chosen], folder, given.rounds)
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    print(f"PySpark {version('pyspark')}, {find_java()}; {given.size} report, {given.rounds} rounds; load {load}")
    base = taken.pop(WITH_ALL)
    for name, own in taken.items():
        gains = {
            kind: ratio_of([one[kind] for one in base], [one[kind] for one in own]) for kind in ("processor", "clock")
        }
        small = "" if any(gain.estimate >= KEPT_FROM for gain in gains.values()) else "  no gain"
        print(f"  {name:26} " + "  ".join(f"{kind} {gain}" for kind, gain in gains.items()) + small)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
