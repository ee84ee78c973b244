"""What a report of many runs takes, Java's start included: time, memory of Java and Python, and the ratio to duckdb.

    .venv/bin/python -m bench.report_scale [FOLDER] [--runs 100000] [--events 4000000]

The runs are those of the bundled suite, simulated anew (or FOLDER's), multiplied. They are reported from their lines,
which also writes an archive, and from that archive. duckdb answers two of the report's questions from the same files:
the time-outs and the waits.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep

import duckdb

from bench.inputs.synthetic_records import multiply, simulate_suite
from bench.inputs.timeouts_sql import LINE_COLUMNS, TIMEOUTS_SQL
from bench.report_beside_duckdb import WAITS_SQL
from bench.report_time import BUILD_SCRIPT, print_stages

MAX_MEMORY_BYTES = 6 * 2**30
"""Of Java and Python together, for the default size."""
POLL_INTERVAL_S = 0.1
STATUS = Path("/proc")


@dataclass(kw_only=True)
class PeakMemory:
    """The most that processes had in memory at a moment: Java, Python, and both together."""

    java: int = 0
    python: int = 0
    both: int = 0

    def sample(self, pid: int) -> None:
        """The process of that id is Python, those that it started are Java."""
        python, java = resident_bytes(pid), sum(map(resident_bytes, children(pid)))
        self.java, self.python, self.both = (
            max(self.java, java), max(self.python, python), max(self.both, java + python)
        )  # fmt: skip

    def __str__(self) -> str:
        mib = [f"{one / 2**20:,.0f} MiB" for one in (self.both, self.java, self.python)]
        return f"{mib[0]} at most (Java {mib[1]}, Python {mib[2]})"


def children(pid: int) -> list[int]:
    try:
        return [int(one) for one in (STATUS / f"{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def resident_bytes(pid: int) -> int:
    """0 of a process that has ended."""
    try:
        return int((STATUS / f"{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def report(folder: Path, out: Path, archive: Path | None = None) -> tuple[float, PeakMemory]:
    """Make one in a new process. Its seconds without those of writing the archive, and its memory."""
    peak, began_s = PeakMemory(), perf_counter()
    command = [sys.executable, "-c", BUILD_SCRIPT, str(folder), str(out), *([str(archive)] if archive else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            peak.sample(process.pid)
            sleep(POLL_INTERVAL_S)
        said = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"the report of {folder} failed after {perf_counter() - began_s:.0f} s")
    timings = json.loads(said)
    print_stages(timings)
    lines = [*timings["stages"], (timings["seconds"], "end")]
    archiving_s = sum(lines[place + 1][0] - at for place, (at, line) in enumerate(lines) if line.startswith("archive:"))
    return timings["seconds"] - archiving_s, peak


def duckdb_seconds(folder: Path) -> float:
    """What the two questions take from nothing, on as many cores as Spark has."""
    began_s = perf_counter()
    connection = duckdb.connect(config={"threads": len(os.sched_getaffinity(0))})
    if (folder / "runs.jsonl").is_file():
        runs = f"read_json('{folder}/runs.jsonl', format='newline_delimited', columns={LINE_COLUMNS})"
        events = f"read_json('{folder}/events.jsonl', format='newline_delimited')"
    else:
        runs, events = (f"read_parquet('{folder}/{kind}.parquet/*.parquet')" for kind in ("runs", "events"))
    connection.execute(f"CREATE VIEW lines AS SELECT *, 0 AS folder, 0 AS line FROM {runs}")
    connection.execute(f"CREATE VIEW events AS SELECT * FROM {events}")
    for sql in (TIMEOUTS_SQL, WAITS_SQL):
        connection.sql(sql).fetchall()
    return perf_counter() - began_s


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where a report of the default size takes more memory than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=4_000_000)
    given = parser.parse_args(arguments)
    most = 0
    with tempfile.TemporaryDirectory() as name:
        lines, archive = Path(name) / "lines", Path(name) / "archive"
        multiply(given.folder or simulate_suite(Path(name) / "suite"), lines, runs=given.runs, events=given.events)
        for folder, kept in ((lines, archive), (archive, None)):
            size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
            print(f"{given.runs:,} runs, about {given.events:,} events, from {size / 1e6:,.0f} MB of {folder.name}")
            seconds, peak = report(folder, Path(name) / f"of-{folder.name}", kept)
            beside_s = duckdb_seconds(folder)
            most = max(most, peak.both)
            load = ", ".join(f"{average:.2f}" for average in os.getloadavg())
            print(f"  memory {peak}; load {load}")
            print(f"  report {seconds:.1f} s, duckdb {beside_s:.1f} s, ratio {seconds / beside_s:.1f}")
    return 1 if most > MAX_MEMORY_BYTES and given.runs == parser.get_default("runs") else 0


if __name__ == "__main__":
    raise SystemExit(main())
