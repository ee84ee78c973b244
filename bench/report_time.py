"""How long a report takes from nothing: a new process each time, Java's start included, stage by stage.

    .venv/bin/python bench/report_time.py [FOLDER] [--times 3]

Without a folder, the bundled suite is run on virtual time into a temporary one.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from bench.inputs.synthetic_records import simulate_suite

BUILD_SCRIPT = """
import json, sys, time
from pathlib import Path
began = time.perf_counter()
import reports
stages = []
def heard(line):
    stages.append((time.perf_counter() - began, line))
archive = sys.argv[3] if len(sys.argv) > 3 else None
result = reports.build([Path(sys.argv[1])], out=Path(sys.argv[2]), progress=heard, archive=archive)
print(json.dumps({"stages": stages, "runs": result.runs, "seconds": time.perf_counter() - began}))
"""
TARGET_S = 8.0
"""For the bundled suite, on two cores that have nothing else to do."""


def build_in_new_process(folder: Path, out: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", BUILD_SCRIPT, str(folder), str(out)], capture_output=True, text=True, check=True
    )
    timings: dict[str, Any] = json.loads(done.stdout)
    return timings


def print_stages(timings: Mapping[str, Any]) -> None:
    stages = [*timings["stages"], (timings["seconds"], "end")]
    for (began, line), (ended, _) in pairwise(stages):
        print(f"  {ended - began:6.2f} s  {line}")
    print(f"  {timings['seconds']:6.2f} s  all of it, {timings['runs']:,} runs")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = given.folder or simulate_suite(Path(name) / "suite")
        taken = []
        for number in range(given.times):
            timings = build_in_new_process(folder, Path(name) / f"out{number}")
            taken.append(timings["seconds"])
            print_stages(timings)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor_s = (spent.ru_utime + spent.ru_stime) / len(taken)
        load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
        print(f"report: median {median(taken):.2f} s of {len(taken)}, target {TARGET_S:.0f} s; load {load}")
        print(f"processor time {processor_s:.2f} s each")


if __name__ == "__main__":
    main()
