"""Records for benchmarks: real runs multiplied, each copy with its own id, and times stretched a little.

Copies keep what makes real records heavy or light: their kinds of events, their nesting, their texts.
"""

import json
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj
import pyarrow.parquet as pq

from harness.records.event import EventRecord
from harness.records.folder import MANIFEST
from harness.records.line import with_checksum

STRETCH = 0.02
"""Times are stretched by up to so much, each run by its own factor."""
NANOSECONDS = ("started_ns", "ended_ns", "began_ns", "confirmed_ns", "healed_ns")
SECONDS = ("value", "censored_at", "measured")
ARROW_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCopy:
    """One run again: the number of the original, its new id, and how much longer everything takes."""

    original: int
    run_id: str
    stretch: float


def make_copies(originals: int, count: int, seed: int) -> list[RunCopy]:
    chance = random.Random(seed)
    return [
        RunCopy(original=n % originals, run_id=f"{n:012x}", stretch=1 + chance.uniform(-STRETCH, STRETCH))
        for n in range(count)
    ]


def simulate_suite(folder: Path) -> Path:
    """The bundled suite, run on virtual time into `folder`; its verdict does not matter here."""
    command = [sys.executable, "-m", "cli", "run", "--env", "sim", "--seed", "1", "--out", str(folder)]
    subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, check=False)
    if not (folder / "events.jsonl").is_file():
        raise SystemExit(f"the bundled suite could not be simulated: {' '.join(command)}")
    return folder


def multiply(
    source: Path,
    target: Path,
    *,
    runs: int,
    events: int,
    seed: int = 1,
    as_parquet: bool = False,
    with_runs: bool = True,
) -> None:
    """Write a results folder of so many runs, and about so many events, made of those in `source`.

    Runs with few events are left out until the others have enough of them on average.
    """
    target.mkdir(parents=True)
    run_records = [json.loads(line) for line in (source / "runs.jsonl").read_bytes().splitlines()]
    lines_by_run: dict[str, list[bytes]] = defaultdict(list)
    for line in (source / "events.jsonl").read_bytes().splitlines():
        lines_by_run[line[11:23].decode()].append(line)
    run_records = [run for run in run_records if lines_by_run[run["run_id"]] and run["attempt"] == 1]
    chosen = runs_with_mean_events(run_records, lines_by_run, events / runs)
    copies = make_copies(len(chosen), runs, seed)
    manifest = {**json.loads((source / MANIFEST).read_bytes()), "run_ids": [copy.run_id for copy in copies]}
    (target / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    if with_runs:
        with (target / "runs.jsonl").open("wb") as file:
            file.writelines(run_lines(chosen, copies))
    lines = [lines_by_run[run["run_id"]] for run in chosen]
    if as_parquet:
        write_columns(target / "events.parquet", lines, copies)
    else:
        with (target / "events.jsonl").open("wb") as file:
            file.writelines(event_lines(lines, copies))


def runs_with_mean_events(
    runs: list[dict[str, Any]], lines_by_run: dict[str, list[bytes]], mean: float
) -> list[dict[str, Any]]:
    """The runs without those of the fewest events, as many as it takes for the others to have `mean` on average."""
    left = sorted(runs, key=lambda run: len(lines_by_run[run["run_id"]]), reverse=True)
    while len(left) > 1 and sum(len(lines_by_run[run["run_id"]]) for run in left) / len(left) < mean:
        left.pop()
    random.Random(0).shuffle(left)
    return left


def run_lines(originals: Sequence[dict[str, Any]], copies: Sequence[RunCopy]) -> Iterator[bytes]:
    for copy in copies:
        run = with_scaled_times(originals[copy.original], copy.stretch)
        run.update(run_id=copy.run_id, repeat=int(copy.run_id, 16))
        run.pop("crc32", None)
        yield with_checksum(json.dumps(run, separators=(",", ":")).encode())


def with_scaled_times(value: Any, factor: float) -> Any:
    """The same record with its times stretched; counts stay what they are."""
    if isinstance(value, list):
        return [with_scaled_times(one, factor) for one in value]
    if not isinstance(value, dict):
        return value
    longer = {name: with_scaled_times(one, factor) for name, one in value.items()}
    for name in NANOSECONDS:
        if longer.get(name):
            longer[name] = round(longer[name] * factor)
    if longer.get("unit") == "s":
        longer.update({name: longer[name] * factor for name in SECONDS if longer.get(name)})
    return longer


def event_lines(originals: Sequence[Sequence[bytes]], copies: Sequence[RunCopy]) -> Iterator[bytes]:
    parts = [[split_event_line(line) for line in lines] for lines in originals]
    for copy in copies:
        head = b'{"run_id":"' + copy.run_id.encode()
        for middle, at_ns, rest in parts[copy.original]:
            yield b"%b%b%d%b\n" % (head, middle, round(at_ns * copy.stretch), rest)


def split_event_line(line: bytes) -> tuple[bytes, int, bytes]:
    """What is between the run's id and the time, the time, and what follows."""
    before, _, after = line.partition(b'"at_ns":')
    at_ns, _, rest = after.partition(b",")
    return before[23:] + b'"at_ns":', int(at_ns), b"," + rest


def write_columns(target: Path, originals: Sequence[Sequence[bytes]], copies: Sequence[RunCopy]) -> None:
    """A folder of Parquet parts, a million events each."""
    target.mkdir()
    kinds = pa.schema(
        [(name, ARROW_TYPES[scalar(field.annotation)]) for name, field in EventRecord.model_fields.items()]
    )
    whole = b"\n".join(line for lines in originals for line in lines)
    table = pj.read_json(pa.BufferReader(whole), parse_options=pj.ParseOptions(explicit_schema=kinds))
    ends = np.cumsum([len(lines) for lines in originals])
    tables, rows, part = [], 0, 0
    for copy in copies:
        end = int(ends[copy.original])
        copied_rows = table.slice(end - len(originals[copy.original]), len(originals[copy.original]))
        later = pc.multiply(copied_rows["at_ns"].cast(pa.float64()), copy.stretch).cast(pa.int64(), safe=False)
        copied_rows = copied_rows.set_column(0, "run_id", pa.array([copy.run_id] * copied_rows.num_rows)).set_column(
            2, "at_ns", later
        )
        tables.append(copied_rows)
        rows += copied_rows.num_rows
        if rows >= 1_000_000:
            pq.write_table(pa.concat_tables(tables), target / f"part-{part:05}.parquet")
            tables, rows, part = [], 0, part + 1
    if tables:
        pq.write_table(pa.concat_tables(tables), target / f"part-{part:05}.parquet")


def scalar(annotation: Any) -> Any:
    """`int` of `int | None`."""
    return next((one for one in getattr(annotation, "__args__", (annotation,)) if one in ARROW_TYPES), str)
