"""How long a report of many runs takes from nothing, Java's start included: 10,000 runs and a million events.

    .venv/bin/python -m bench.report_scale [FOLDER] [--runs 10000] [--events 1000000] [--times 1]

The runs are those of the bundled suite, simulated anew (or FOLDER's), multiplied.
"""

import argparse
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.inputs.synthetic_records import multiply, simulate_suite
from bench.report_time import build_in_new_process, print_stages

TARGET_S = 25.0
"""On two cores that have nothing else to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where the median misses the target, which stands for the default size alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=1)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "many"
        source = given.folder or simulate_suite(Path(name) / "suite")
        multiply(source, folder, runs=given.runs, events=given.events)
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{given.runs:,} runs, about {given.events:,} events, {size / 1e6:.0f} MB of lines")
        taken = []
        for number in range(given.times):
            timings = build_in_new_process(folder, Path(name) / f"out{number}")
            taken.append(timings["seconds"])
            print_stages(timings)
    load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
    print(f"report: median {median(taken):.2f} s of {len(taken)}, target {TARGET_S:.0f} s; load {load}")
    of_target = given.runs == parser.get_default("runs") and given.events == parser.get_default("events")
    return 1 if of_target and median(taken) > TARGET_S else 0


if __name__ == "__main__":
    raise SystemExit(main())
