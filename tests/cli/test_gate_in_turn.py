"""Protects A/B runs of two programs: they are run in turn on real sockets, each into its own folder, and the slower one
is found."""

import json
import sys
from pathlib import Path

import pytest
from command_line import faultlab

PROGRAM = """\
#!{python}
import json, sys, time

def say(**fields):
    print(json.dumps(fields), flush=True)

say(ev="ready", clock_ns=time.monotonic_ns())
for line in sys.stdin:
    command = json.loads(line)
    say(ev="started", id=command["id"], at_ns=time.monotonic_ns())
    time.sleep({delay_s} if command["op"] == "send" else 0)
    say(ev="ok", id=command["id"], at_ns=time.monotonic_ns(), partition=0, offset=0)
"""
SCENARIO = """\
format: 1
scenario: mine
about: A program of somebody's own.
client: {driver: {exec: [./old]}, name: mine}
cluster: {brokers: 1, topics: [{name: orders}]}
steps:
  - {do: connect}
  - {do: send, as: probe, give_up_after: 10s}
expect:
  - {measure: probe.time_to_end, at_most: 5s, within: 5s}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, delay_s in (("old", 0.05), ("new", 0.45)):
        program = tmp_path / name
        program.write_text(PROGRAM.format(python=sys.executable, delay_s=delay_s))
        program.chmod(0o755)
    (tmp_path / "mine.scenario.yaml").write_text(SCENARIO)
    return tmp_path


@pytest.mark.ci
@pytest.mark.cell
def test_two_programs_are_run_in_turn_and_the_slower_one_is_found(folder: Path) -> None:
    done = faultlab("gate", "--run", "--a", "./old", "--b", "./new", "--repeat", "8", "mine.scenario.yaml", cwd=folder)
    assert done.code == 10, done.out + done.err
    assert any(line == "compared 1 of 1 scenario, 8 + 8 runs interleaved, same machine" for line in done.lines)
    assert any(line.startswith("REGRESSION  mine  mine  time to ack") for line in done.lines)
    (parent,) = (folder / "results").iterdir()
    told = {}
    for side in ("a", "b"):
        runs = [json.loads(line) for line in (parent / side / "runs.jsonl").read_text().splitlines()]
        counted = {run["run_id"]: run for run in runs}
        assert len(counted) == 8
        assert set(counted) == set(json.loads((parent / side / "manifest.json").read_text())["run_ids"])
        times = [m["value"] for run in counted.values() for m in run["measures"] if m["name"] == "probe.time_to_end"]
        told[side] = (min(times), max(times))
    assert told["a"][1] < 0.45 <= told["b"][0], "each folder has its own program's runs"


MISTAKES = [
    (("--a", "./old", "--b", "./gone", "mine.scenario.yaml"), "--b: there is no program ./gone"),
    (("--a", "./old", "--b", "./old", "mine.scenario.yaml"), "--a and --b are the same command"),
    (("--a", "./old", "--b", "./new"), "need scenarios whose program they replace"),
    (("--a", "./old", "mine.scenario.yaml"), "two programs are run in turn with --run, --a and --b"),
    (("mine.scenario.yaml",), "without --a and --b the gate takes no paths, but mine.scenario.yaml is one"),
    (("--a", "./old", "--b", "'", "mine.scenario.yaml"), "No closing quotation"),
    (("--a", "./old", "--b", "./new", "--baseline", "x", "mine.scenario.yaml"), "there is no baseline to name"),
]


@pytest.mark.parametrize(("arguments", "said"), MISTAKES, ids=[one[1][:30] for one in MISTAKES])
def test_mistakes_have_one_message_and_start_nothing(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    done = faultlab("gate", "--run", *arguments, cwd=folder)
    assert done.code == 4, done.out + done.err
    assert said in done.err
    assert not (folder / "results").exists()


@pytest.mark.cell
def test_a_profile_is_no_program_to_replace(folder: Path) -> None:
    done = faultlab("gate", "--run", "--a", "./old", "--b", "./new", "sarama-killed", cwd=folder)
    assert done.code == 4
    assert "sarama-killed runs a profile, no program of yours" in done.err
