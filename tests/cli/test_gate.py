"""Protects `faultlab gate` on the command line: the exit code tells, nothing to compare never passes, and whatever is
wrong with what it is given is said in one message."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import environment, faultlab, write_scenario
from gated import RUNS, gate, on_machine

from harness.records.reader import read


def test_what_is_slower_regressed_with_the_place_and_what_to_do(folder: Path) -> None:
    done = gate("--baseline", "was", "--current", "is", cwd=folder)
    assert done.code == 10, done.out + done.err
    assert done.lines[0] == f"compared 2 of 2 scenarios, {RUNS} + {RUNS} runs, virtual time"
    start = done.lines.index("REGRESSION  all 2 cases: Net.ReadTimeout 2s -> 3s")
    worst, figures, other = (line.strip() for line in done.lines[start + 1 : start + 4])
    assert worst == "worst: dark  sarama 1.27.2  time to error"
    assert figures.startswith("2.00 -> 3.00 s  +1.00 [+1.00 +1.00]  q<0.0001  floor 0.12")
    assert other.startswith("darker  sarama 1.27.2  +1.00 s"), "a line for each other case of the same cause"
    assert any(line.startswith("REGRESSED   2 slower") and line.endswith("exit 10") for line in done.lines)
    assert "repeat      faultlab gate --run --baseline was --only dark --only darker" in done.lines


def test_the_same_twice_is_unchanged(folder: Path) -> None:
    done = gate("--baseline", "was", "--current", "was", cwd=folder)
    assert done.code == 0, done.out
    assert "unchanged   2, largest +0.00 s" in done.lines
    assert done.lines[-1].startswith("UNCHANGED")


def test_faster_is_mentioned_and_passes(folder: Path) -> None:
    done = gate("--baseline", "is", "--current", "was", cwd=folder)
    assert done.code == 0, done.out
    assert sum(line.startswith("BETTER") for line in done.lines) == 2


def test_a_scenario_that_is_not_run_is_lost_and_only_asks_for_less(folder: Path) -> None:
    assert faultlab("run", "s", "--env", "sim", "--only", "dark", "--out", "part", cwd=folder).code == 0
    done = gate("--baseline", "is", "--current", "part", cwd=folder)
    assert done.code == 10
    assert "LOST        darker  in the baseline, not run now" in done.lines
    assert done.lines[0].startswith("compared 1 of 2 scenarios")
    assert gate("--baseline", "is", "--current", "part", "--only", "dark", cwd=folder).code == 0


def test_too_few_runs_are_inconclusive_unless_that_may_pass(folder: Path) -> None:
    for path in (folder / "s").iterdir():
        path.write_text(path.read_text().replace("Net.ReadTimeout: 3s", "Net.ReadTimeout: 3001ms"))
    assert faultlab("run", "s", "--env", "sim", "--repeat", "2", "--out", "few", cwd=folder).code == 0
    done = gate("--baseline", "is", "--current", "few", cwd=folder)
    assert done.code == 2, done.out
    assert any("2 cases  only 12 + 2 conclusive runs  needs" in line for line in done.lines)
    warned = gate("--baseline", "is", "--current", "few", "--inconclusive", "warn", cwd=folder)
    assert warned.code == 0
    assert "(--inconclusive warn)" in warned.out


def test_another_machine_is_not_compared_even_with_a_warning(folder: Path) -> None:
    on_machine(folder / "was", "One CPU, 2 cores")
    on_machine(folder / "is", "Another CPU, 64 cores")
    for more in ((), ("--inconclusive", "warn")):
        done = gate("--baseline", "was", "--current", "is", *more, cwd=folder)
        assert done.code == 2
        assert done.lines[0] == "compared nothing: the baseline is another machine's"
        assert "  baseline  One CPU, 2 cores" in done.lines
        assert "REGRESSION" not in done.out


def test_nothing_in_common_is_no_pass(folder: Path) -> None:
    write_scenario(folder / "t", "elsewhere", repeat=2)
    assert faultlab("run", "t", "--env", "sim", "--out", "other", cwd=folder).code == 0
    done = gate("--baseline", "was", "--current", "other", "--inconclusive", "warn", cwd=folder)
    assert done.code == 5
    assert done.lines[0].startswith("compared 0 of 2 scenarios")
    (folder / "is" / "runs.jsonl").write_text("")
    empty = gate("--baseline", "was", "--current", "is", cwd=folder)
    assert empty.code == 5
    assert "no run has ended" in empty.out


def test_virtual_time_is_not_held_against_real_sockets_and_that_is_said(folder: Path) -> None:
    """As where `--env auto` falls back: nothing is in common, though every scenario ran."""
    here = json.loads((folder / "was" / "manifest.json").read_text())["machine"]
    on_machine(folder / "was", here)
    done = gate("--baseline", "was", "--current", "is", cwd=folder)
    assert done.code == 5, done.out
    assert "NOTHING     the baseline was made in local, these runs in sim" in done.out


def test_the_suite_of_the_baseline_is_run_again_as_often(folder: Path) -> None:
    done = gate("--run", "--baseline", "is", cwd=folder)
    assert done.code == 0, done.out + done.err
    assert f"2 scenarios, {2 * RUNS} runs, sim" in done.out
    assert f"compared 2 of 2 scenarios, {RUNS} + {RUNS} runs, virtual time" in done.lines
    assert gate("--run", "--baseline", "is", "--out", "mine", "--repeat", "5", cwd=folder).code == 0
    assert len((folder / "mine" / "runs.jsonl").read_text().splitlines()) == 10
    assert gate("--update", "--current", "is", cwd=folder).code == 0
    again = gate("--run", "--only", "dark", "--repeat", "6", "--json", cwd=folder)
    document = json.loads(again.out)
    assert (document["exit_code"], document["compared"], document["unchanged"]) == (again.code, 1, 1)
    assert "1 scenario, 6 runs, sim" in again.err


def test_one_json_document_has_all_of_it(folder: Path) -> None:
    done = gate("--baseline", "was", "--current", "is", "--json", cwd=folder)
    document = json.loads(done.out)
    assert (document["exit_code"], document["verdict"]) == (10, "regressed")
    assert [finding["kind"] for finding in document["findings"]] == ["regression", "regression"]
    leading = document["findings"][0]["leading"]
    assert leading["measure"] == "probe.time_to_error"
    assert leading["interval"]["low"] <= leading["shift"] <= leading["interval"]["high"]
    assert leading["rate"] <= 0.01


MISTAKES = [
    ((), "there is no baseline: faultlab-baseline.json does not exist", 4),
    (("--baseline", "no where"), "there is no baseline: no where does not exist", 4),
    (("--baseline", "no where"), "--repeat 20, then faultlab gate --update --baseline 'no where')", 4),
    (("--baseline", "was"), "there are no results in results/", 5),
    (("--baseline", "was", "--current", "s"), "s is no results folder: it has no manifest.json", 4),
    (("--baseline", "was", "--current", "is", "--floor", "much"), "--floor: `much` is not a duration", 4),
    (("--baseline", "was", "--current", "is", "--floor", "5"), "--floor: `5`: a floor is one of times", 4),
    (("--baseline", "was", "--current", "is", "--run"), "exclude each other", 4),
    (("--baseline", "was", "--repeat", "3"), "it needs --run", 4),
    (("--baseline", "was", "--out", "x"), "--out says where to put the runs: it needs --run", 4),
    (("--baseline", "was", "--run", "--out", "is"), "is already holds a suite", 4),
    (("--baseline", "/dev/zero", "--current", "is"), "/dev/zero is no baseline: it is longer than 256 MiB", 4),
    (("--baseline", "was", "--current", "is", "--only", "x"), "no scenario of was is called x: nothing to compare", 5),
    (("--update", "--current", "is", "--only", "x"), "no scenario of is is called x: nothing to compare", 5),
    (("--baseline", "was", "--run", "--only", "x"), "no scenario of was is called x: nothing to compare", 5),
    (("--baseline", "was", "--current", "is", "--inconclusive", "maybe"), "'maybe' is not one of", 4),
    (("--baseline", "s/dark.scenario.yaml", "--current", "is"), "is no baseline", 4),
    (("--baseline", "empty", "--current", "is"), "empty is empty: nothing to compare", 5),
    (("--baseline", "was", "--current", "empty"), "empty is empty: nothing to compare", 5),
    (("--baseline", "helped.json", "--run"), "`faultlab run` does not take its arguments: No such option '--help'", 4),
    (
        ("--baseline", "nowhere.json", "--run"),
        "`faultlab run` does not take its arguments: Invalid value for '--env'",
        4,
    ),
    (("--baseline", "helped", "--run"), "No such option '--help'", 4),
]


def spoil_arguments(folder: Path) -> None:
    """What a hand may write where `--run` looks for the suite: nothing of it may end with success."""
    shutil.copytree(folder / "was", folder / "helped")
    manifest = folder / "helped" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"arguments": ["--help"]}))
    made = gate("--update", "--current", "was", "--baseline", "helped.json", cwd=folder)
    assert made.code == 0, made.err
    document = json.loads((folder / "helped.json").read_text())
    for name, arguments in (("helped", ["--help"]), ("nowhere", ["--env", "nowhere"])):
        (folder / f"{name}.json").write_text(json.dumps(document | {"arguments": arguments}))


@pytest.mark.parametrize(("arguments", "said", "code"), MISTAKES, ids=[one[1][:40] for one in MISTAKES])
def test_mistakes_have_one_message(folder: Path, arguments: tuple[str, ...], said: str, code: int) -> None:
    (folder / "empty").mkdir()
    spoil_arguments(folder)
    done = gate(*arguments, cwd=folder)
    assert done.code == code, done.out + done.err
    assert said in done.err
    assert done.out == ""


def test_newer_spoilt_and_cut_records_are_said(folder: Path) -> None:
    runs = folder / "is" / "runs.jsonl"
    lines = runs.read_bytes().splitlines(keepends=True)
    runs.write_bytes(b"".join(lines[:-1]) + lines[-1][:-20])
    cut = gate("--baseline", "is", "--current", "is", cwd=folder)
    assert cut.code == 0
    assert f"set aside: is/runs.jsonl:{len(lines)}: cut line" in " ".join(cut.out.split())
    manifest = folder / "is" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 2'))
    for command in (("gate", "--baseline", "was", "--current", "is"), ("compare", "was", "is")):
        newer = faultlab(*command, cwd=folder)
        assert newer.code == 4
        assert "was written by a newer faultlab: run format 2" in newer.err


def test_the_command_line_starts_without_what_the_gate_reckons_with(tmp_path: Path) -> None:
    """scipy takes half a second to import: `gate --help` and every other command must not wait for it."""
    code = "import sys, cli.commands.gate, cli.commands.compare; print({'scipy', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.ci
def test_an_output_that_takes_nothing_is_no_bug(folder: Path) -> None:
    """A full disk behind a redirection, or a stream that was closed before the start."""
    command = [sys.executable, "-m", "cli", "gate", "--baseline", "was", "--current", "is"]
    with Path("/dev/full").open("w") as full:
        for more in ([], ["--json"]):
            done = subprocess.run([*command, *more], cwd=folder, env=environment(), stdout=full, stderr=-1, text=True)
            assert done.returncode == 3
            assert done.stderr.startswith("error: what there is to say cannot be written: No space left on device\n")
            assert "bug" not in done.stderr
    closed = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *command], cwd=folder, env=environment(), stderr=-1, text=True
    )
    assert (closed.returncode, closed.stderr) == (10, "")


def test_a_suite_that_is_results_itself_is_the_newest(tmp_path: Path) -> None:
    """As `faultlab run --out results` leaves it, in docs/CI.md too."""
    write_scenario(tmp_path, formula="Net.DialTimeout")
    first = faultlab("run", ".", "--env", "sim", "--repeat", "5", "--out", "results", cwd=tmp_path)
    assert faultlab("gate", "--update", cwd=tmp_path).code == 0
    assert faultlab("gate", cwd=tmp_path).out.startswith("compared 1 of 1 scenario, 5 + 5 runs")
    run_id = read(tmp_path / "results").runs[0].run_id
    assert "--in results" in first.out
    assert faultlab("replay", run_id, "--out", "again", cwd=tmp_path).code == 1


def test_a_folder_of_suites_is_told_from_one_that_holds_nothing(folder: Path) -> None:
    (folder / "results").mkdir()
    for name in ("was", "is"):
        shutil.copytree(folder / name, folder / "results" / name)
    os.utime(folder / "results" / "was" / "manifest.json", (1, 1))
    for command in (
        ("gate", "--baseline", "results", "--current", "is"),
        ("gate", "--baseline", "is", "--current", "results"),
        ("compare", "results", "is"),
    ):
        done = faultlab(*command, cwd=folder)
        assert done.code == 4, done.out
        assert "results is no results folder: it holds 2 results folders\n" in done.err
        assert "  name one of them, the newest first: results/is, results/was" in done.err
