"""Verdicts under noise: wrong failures, runs that stay inconclusive, and wrong formulas that are found out.

    .venv/bin/python bench/noise.py [--runs 100] [--load suite,cache] [--out runs.jsonl] [WORD ...]

Runs local scenarios (WORD: as `faultlab run` takes them; none: all bundled ones) with seeds of their own, noisy runs
again as `faultlab run` does. Each story is judged three times: by its formulas, and by formulas that are wrong by 10 %
and 100 ms, too high and too low. Beside them runs what `--load` names: `cpu` keeps every core busy, `suite` is a second
suite, `cache` reads and writes files until the page cache is full. `--out` adds to what an earlier call left there; the
figures are of all its runs under this load. Exits with 1 where a target is missed.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.conductor import conduct
from harness.environments.local.environment import LocalEnvironment
from harness.formulas.evaluate import condition_holds
from harness.judging import Judgement, judge
from harness.language import Scenario, plans
from harness.measures import MEASURES, parse
from harness.plan import Expectation, RunPlan
from harness.records.run import RunRecord
from harness.stats import percentile
from harness.story import Story
from harness.suite.collection import collect
from harness.suite.machine import machine
from harness.suite.planning import SLOW, load_all
from harness.suite.runner import Runner

WRONG = {"right": "{}", "too high": "({})*1.1 + 100ms", "too low": "({})*0.9 - 100ms"}
"""The variants: what each makes of the formula of a time that is to be met."""
MOST_INCONCLUSIVE, LEAST_FOUND = {False: 0.01, True: 0.10}, {False: 0.98, True: 0.90}
"""Targets, without and under load. No run may fail wrongly in either."""
BUSY = "while True: pass"
SUITE = """
import itertools, shutil, subprocess, sys
for number in itertools.count():
    out = f"{sys.argv[1]}/suite-{number}"
    subprocess.run([sys.executable, "-m", "cli", "run", "--env", "local", "--out", out], stdout=-3, stderr=-3)
    shutil.rmtree(out, ignore_errors=True)
"""
CACHE = """
import os, sys
block = os.urandom(1 << 20)
while True:
    with open(f"{sys.argv[1]}/pages", "w+b") as file:
        for _ in range(int(sys.argv[2]) >> 20):
            file.write(block)
        file.seek(0)
        while file.read(1 << 20):
            pass
"""
LOADS = {"cpu": BUSY, "suite": SUITE, "cache": CACHE}


@dataclass(slots=True)
class Tries:
    """Judges every variant of each try, and writes them down. `runs` holds those that are not decided yet."""

    out: Path
    load: str
    seed: int = 0
    undecided: dict[str, set[str]] = field(default_factory=dict)

    def judge(self, plan: RunPlan, story: Story) -> Judgement:
        """The judgement of the right formulas; noisy while any variant asks for another try."""
        judged = {name: judge(made_wrong(plan, formula), story) for name, formula in WRONG.items()}
        left = self.undecided.setdefault(plan.run_id, set(WRONG))
        decided = {name: one.verdict for name, one in judged.items() if name in left}
        left -= {name for name in decided if not judged[name].noisy}
        right = judged["right"]
        line = {
            "load": self.load, "seed": self.seed, "run_id": plan.run_id, "scenario": plan.scenario,
            "client": plan.client.version, "parameters": {p.name: p.text for p in plan.parameters},
            "attempt": plan.attempt, "verdicts": decided, "timed": has_time(plan),
            "late_s": max((one.late_s or 0.0 for one in right.judged), default=0.0), "reasons": right.reasons,
        }  # fmt: skip
        with self.out.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")
        return replace(right, noisy=bool(left))


class Forgotten:
    """Keeps no run and shows none: a RunWriter and an Observer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write_lines(self, run: RunRecord, events: bytes) -> None: ...

    def create_log_folder(self, run_id: str, attempt: int) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder))

    def remove_empty_logs(self, run_id: str, attempt: int) -> None: ...

    def started(self, plan: RunPlan) -> None: ...

    def doing(self, plan: RunPlan, words: str) -> None: ...

    def ended(self, plan: RunPlan, record: RunRecord) -> None: ...

    def stopping(self) -> None: ...


def is_time_to_be_met(expectation: Expectation) -> bool:
    """No limit, which a higher formula would only make wider, and no claim, which may be wrong on purpose."""
    return expectation.kind == "equals" and MEASURES[parse(expectation.measure).measure].unit == "s"


def has_time(plan: RunPlan) -> bool:
    """Whether a formula of a time applies to the run, so that a wrong one can be found out."""
    times = (one for one in plan.expectations if is_time_to_be_met(one))
    return any(one.when is None or condition_holds(one.when, plan) for one in times)


def made_wrong(plan: RunPlan, formula: str) -> RunPlan:
    expectations = (
        replace(one, formula=formula.format(one.formula)) if is_time_to_be_met(one) else one
        for one in plan.expectations
    )
    return replace(plan, expectations=tuple(expectations))


@contextmanager
def loaded(names: Sequence[str], scratch: Path) -> Iterator[None]:
    """Keep programs running that take cores, or fill the page cache. They and all of theirs end with the context."""
    # As much as the machine has memory, so that other pages have to go, where the disk has room for that.
    pages = min(shutil.disk_usage(scratch).free // 4, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with ExitStack() as stack:
        for name in names:
            for _ in range(os.cpu_count() or 1 if name == "cpu" else 1):
                command = [sys.executable, "-c", LOADS[name], str(scratch), str(pages)]
                process = stack.enter_context(subprocess.Popen(command, start_new_session=True))
                stack.callback(os.killpg, process.pid, signal.SIGKILL)
        yield


def run_suites(scenarios: Sequence[Scenario], tries: Tries, *, runs: int, scratch: Path) -> None:
    """Whole suites, until there are as many runs or more."""
    unkept = Forgotten(scratch)
    with LocalEnvironment(conduct) as environment:
        while runs > 0:
            tries.seed += 1
            planned = [p for s in scenarios for p in plans(s, environment="local", seed=tries.seed, repeat=1)]
            if not Runner(environment, tries.judge, unkept, unkept).run(planned):
                return
            runs -= len(planned)


def kept_tries(file: Path, load: str) -> list[dict[str, Any]]:
    """Every try that a file has under a load, in order."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [line for line in map(json.loads, lines) if line["load"] == load]


def report(tries: Sequence[Mapping[str, Any]], *, under_load: bool) -> bool:
    """Print the figures. Whether every target is reached."""
    verdicts: dict[str, dict[tuple[int, str], str]] = {name: {} for name in WRONG}
    for one in tries:
        for name, verdict in one["verdicts"].items():
            verdicts[name][one["seed"], one["run_id"]] = verdict
    timed = {(one["seed"], one["run_id"]) for one in tries if one["timed"]}
    right = Counter(verdicts["right"].values())
    runs = sum(right.values())
    for one in tries:
        verdict = one["verdicts"].get("right")
        if verdict in ("fail", "lab_error"):
            print(f"      {verdict}: {one['scenario']} {one['parameters']}: {'; '.join(one['reasons'])}")
    print(f"      {runs} runs, {len(tries)} tries, late by {_quantiles([one['late_s'] * 1e3 for one in tries])}")
    most, least, open_share = MOST_INCONCLUSIVE[under_load], LEAST_FOUND[under_load], right["inconclusive"] / runs
    reached = [
        _print(right["fail"] == 0, f"{right['fail']} wrong failures", "target 0"),
        _print(open_share <= most, f"{open_share:.2%} inconclusive", f"target {most:.0%}"),
    ]
    for name in WRONG:
        if name != "right":
            found = [verdicts[name][run] == "fail" for run in timed if run in verdicts[name]]
            share = sum(found) / len(found) if found else 0.0
            reached.append(_print(share >= least, f"{share:.2%} of {len(found)} found {name}", f"target {least:.0%}"))
    return all(reached)


def _quantiles(late_ms: list[float]) -> str:
    found = ", ".join(f"{percentile(late_ms, q):.1f}" for q in (0.5, 0.9, 0.99))
    return f"{found} ms (median, 90 %, 99 % of the tries)"


def _print(reached: bool, text: str, target: str) -> bool:
    print(f"{'ok  ' if reached else 'MISS'}  {text} ({target})")
    return reached


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--runs", type=int, default=100, help="at least so many more; 0: only print")
    parser.add_argument("--load", default="", help=f"any of {', '.join(LOADS)}, with commas between")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    names = sorted(filter(None, given.load.split(",")))
    unknown = [name for name in names if name not in LOADS]
    if unknown:
        parser.error(f"there is no load {unknown[0]} (there are: {', '.join(LOADS)})")
    load = ",".join(names)
    found = load_all(collect(given.words, folder=Path.cwd()))
    scenarios = [one.scenario for one in found if one.named or SLOW not in one.scenario.tags]
    with tempfile.TemporaryDirectory(prefix="faultlab-noise-", ignore_cleanup_errors=True) as folder:
        out = given.out or Path(folder) / "tries.jsonl"
        before = kept_tries(out, load)
        tries = Tries(out=out, load=load, seed=max((one["seed"] for one in before), default=0))
        print(f"{machine()}, local, load: {load or 'none'}", flush=True)
        if given.runs:
            with loaded(names, Path(folder)):
                run_suites(scenarios, tries, runs=given.runs, scratch=Path(folder))
        kept = kept_tries(out, load)
        if not kept:
            parser.error(f"{out} has no run under this load")
        return 0 if report(kept, under_load=bool(names)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
