"""How many whole simulated runs a second one core makes: from a plan to its lines in a results folder.

    .venv/bin/python bench/sim_runs.py [--seconds 5] [--profile]

The runs are repeats of one cell of a bundled scenario, each with its own seed, with the full profile of its client:
run, judged, made into records and written with all their events, as `faultlab run --env sim` does it. Time is this
process' CPU time, in windows of a second: the median counts. The profile adds what no other program on the machine can
change: how many functions a run calls, room by room.
"""

import argparse
import cProfile
import pstats
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path

from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.judging import judge
from harness.language import load, plans
from harness.plan import RunPlan
from harness.records.manifest import Manifest
from harness.records.writer import Writer
from harness.stats import median
from harness.suite.collection import bundled
from harness.suite.machine import machine, wall_clock
from harness.suite.recording import event_lines, run_record

SCENARIO, BROKERS, RETRIES = "sarama-blackhole-established", 1, 1.0
TARGET = 400.0
REPEATS = 200
WARM_UP = 20
REPOSITORY = Path(__file__).resolve().parents[1]
PROFILED_RUNS = 300
TIMED_RUNS = 200


class RunBenchmark:
    """Makes whole runs, one after the other; `events` counts those written."""

    def __init__(self, run_plans: Sequence[RunPlan], writer: Writer) -> None:
        self.events = 0
        self._plans: Iterator[RunPlan] = cycle(run_plans)
        self._writer = writer
        self._sim = SimEnvironment(conduct)

    def run(self) -> None:
        for _ in self._stages():
            pass

    def run_timed(self) -> dict[str, float]:
        """One run; the CPU time of each of its stages."""
        spent_s: dict[str, float] = {}
        began_s = time.process_time()
        for stage in self._stages():
            ended_s = time.process_time()
            spent_s[stage] = ended_s - began_s
            began_s = ended_s
        return spent_s

    def _stages(self) -> Iterator[str]:
        """A run, stage by stage: the name of each once it is done."""
        plan = next(self._plans)
        story = self._sim.run(plan, _ignore_progress, None)
        yield "simulate"
        judgement = judge(plan, story)
        if judgement.verdict != "pass":
            raise SystemExit(f"{plan.scenario} {plan.run_id}: {judgement.verdict}: {'; '.join(judgement.reasons)}")
        yield "judge"
        record = run_record(plan, story, judgement, started_at=wall_clock(), duration_s=0.0)
        events = event_lines(plan, story)
        yield "record"
        self._writer.write_lines(record, events)
        self.events += events.count(b"\n")
        yield "write"


def _ignore_progress(_words: str) -> None:
    """Progress is not shown."""


def measured_plans() -> tuple[RunPlan, ...]:
    """Repeats of the cell N = k = 1, m = 1."""
    scenario = next(one for path in bundled() if (one := load(path)).name == SCENARIO)
    everything = plans(scenario, environment="sim", seed=1, repeat=REPEATS)
    return tuple(
        plan
        for plan in everything
        if plan.cluster.brokers == BROKERS
        and any(s.name == "Producer.Retry.Max" and s.value == RETRIES for s in plan.settings)
    )


def manifest(run_plans: Sequence[RunPlan]) -> Manifest:
    return Manifest(
        suite="bench", faultlab="bench", environment="sim", seed=1, arguments=(), folder=".", started_at=wall_clock(),
        run_ids=tuple(plan.run_id for plan in run_plans), machine=machine(),
    )  # fmt: skip


def runs_per_second(benchmark: RunBenchmark, seconds: float) -> float:
    runs = 0
    began_s = time.process_time()
    while (took_s := time.process_time() - began_s) < seconds:
        benchmark.run()
        runs += 1
    return runs / took_s


def profiled(benchmark: RunBenchmark) -> None:
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(PROFILED_RUNS):
        benchmark.run()
    profile.disable()
    stats = pstats.Stats(profile)
    stats.sort_stats("tottime").print_stats(40)
    print_packages(stats)


def print_packages(stats: pstats.Stats) -> None:
    """Calls a run and their share of the time, by the part of the house, or the library, that they are in."""
    calls: Counter[str] = Counter()
    spent_s: Counter[str] = Counter()
    for (file, _, _), (_, number, self_time_s, _, _) in stats.stats.items():  # type: ignore[attr-defined]
        calls[package_of(file)] += number
        spent_s[package_of(file)] += self_time_s
    total_s = sum(spent_s.values())
    print(f"{sum(calls.values()) / PROFILED_RUNS:.0f} calls a run")
    for package, self_time_s in spent_s.most_common(25):
        print(f"{calls[package] / PROFILED_RUNS:8.1f} calls {self_time_s / total_s:6.1%}  {package}")


def package_of(file: str) -> str:
    """`harness/measures` for a file of ours, `asyncio` for the library's, `built in` for what is written in C."""
    path = Path(file)
    if path.is_relative_to(REPOSITORY):
        return path.relative_to(REPOSITORY).parent.as_posix()
    return path.parent.name if path.suffix == ".py" else "built in"


def report(benchmark: RunBenchmark, windows: int) -> bool:
    """Measure and print. Whether the target is reached."""
    rates = sorted(runs_per_second(benchmark, 1.0) for _ in range(windows))
    stages = [benchmark.run_timed() for _ in range(TIMED_RUNS)]
    before = benchmark.events
    benchmark.run()
    reached = median(rates) >= TARGET
    print(
        f"{'ok  ' if reached else 'MISS'}  {SCENARIO}, N=k={BROKERS}, m={RETRIES:g}: {median(rates):.0f} whole runs a"
        f" CPU second (median of {windows}; {rates[0]:.0f} to {rates[-1]:.0f}; target {TARGET:.0f})"
    )
    split = ", ".join(f"{name} {median([one[name] for one in stages]) * 1e3:.2f} ms" for name in stages[0])
    print(f"      a run of {benchmark.events - before} events: {split} (medians)")
    return reached


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5, help="CPU seconds to measure")
    parser.add_argument("--profile", action="store_true", help="where the time goes, instead of how much it is")
    given = parser.parse_args(arguments)
    run_plans = measured_plans()
    with tempfile.TemporaryDirectory() as folder, Writer.create(Path(folder), manifest(run_plans)) as writer:
        benchmark = RunBenchmark(run_plans, writer)
        for _ in range(WARM_UP):
            benchmark.run()
        if given.profile:
            profiled(benchmark)
            return 0
        print(f"{machine()}, sim")
        return 0 if report(benchmark, given.seconds) else 1


if __name__ == "__main__":
    raise SystemExit(main())
