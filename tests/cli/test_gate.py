"""Protects `faultlab gate` and `compare` on the command line: the exit code tells, nothing to compare never passes, and
whatever is wrong with what they are given is said in one message."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Done, environment, faultlab, write_scenario

from harness.records.reader import read

RUNS = 12


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`was` and `is`: the same simulated suite twice, the later one with a longer time-out."""
    folder = tmp_path_factory.mktemp("gate")
    for name in ("dark", "darker"):
        write_scenario(folder / "s", name, repeat=RUNS)
    assert faultlab("run", "s", "--env", "sim", "--out", "was", cwd=folder).code == 0
    for path in (folder / "s").iterdir():
        path.write_text(path.read_text().replace("Net.ReadTimeout: 2s", "Net.ReadTimeout: 3s"))
    assert faultlab("run", "s", "--env", "sim", "--out", "is", cwd=folder).code == 0
    return folder


@pytest.fixture
def folder(suites: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    for name in ("s", "was", "is"):
        shutil.copytree(suites / name, tmp_path / name)
    return tmp_path


def on_machine(folder: Path, machine: str) -> None:
    """As if the suite had run on real sockets of some machine: virtual time is the same everywhere."""
    for name in ("manifest.json", "runs.jsonl"):
        path = folder / name
        path.write_text(path.read_text().replace('"environment":"sim"', '"environment":"local"'))
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"machine": machine, "environment": "local"}))


def gate(*arguments: str | Path, cwd: Path) -> Done:
    done = faultlab("gate", *arguments, cwd=cwd)
    if done.out and "--json" not in arguments:
        assert done.widest() <= 80
    return done


def test_what_is_slower_regressed_with_the_place_and_what_to_do(folder: Path) -> None:
    done = gate("--baseline", "was", "--current", "is", cwd=folder)
    assert done.code == 10, done.out + done.err
    assert done.lines[0] == f"compared 2 of 2 scenarios, {RUNS} + {RUNS} runs, virtual time"
    start = done.lines.index("REGRESSION  dark  sarama 1.27.2  time to error")
    assert done.lines[start + 1].strip().startswith("2.00 -> 3.00 s  +1.00 [+1.00 +1.00]  q<0.0001  floor 0.12")
    assert "where: Net.ReadTimeout 2s, now 3s" in done.lines[start + 2]
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


def test_a_baseline_file_is_written_held_and_a_part_of_it_renewed(folder: Path) -> None:
    made = gate("--update", "--current", "was", "--floor", "4% + 30ms", cwd=folder)
    assert made.code == 0
    assert "2 cases of 2 scenarios from was, floor 4% + 30ms" in " ".join(made.out.split())
    file = folder / "faultlab-baseline.json"
    before = file.read_text()
    assert gate("--current", "was", cwd=folder).code == 0
    assert gate("--current", "is", cwd=folder).code == 10
    assert gate("--update", "--current", "is", "--only", "dark", cwd=folder).code == 0
    half = gate("--current", "is", cwd=folder)
    assert half.code == 10
    assert "unchanged   1, " in half.out
    changed = [a for a, b in zip(before.splitlines(), file.read_text().splitlines(), strict=True) if a != b]
    assert 0 < len(changed) < 12
    refused = gate("--update", "--current", "is", "--baseline", "was", cwd=folder)
    assert refused.code == 4
    assert "was is a results folder: it is never changed" in refused.err


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
    (("--baseline", "nowhere"), "nowhere does not exist", 4),
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


def test_compare_shows_what_differs_and_judges_nothing(folder: Path) -> None:
    done = faultlab("compare", "was", "is", cwd=folder)
    assert done.code == 0
    assert done.widest() <= 80
    row = next(line for line in done.lines if line.startswith("  time to error"))
    assert row.split()[3:6] == ["2.000", "3.000", "+1.000"]
    assert sum("Net.ReadTimeout 2s, now 3s" in line for line in done.lines) == 2
    same = faultlab("compare", "was", "was", cwd=folder)
    assert same.code == 0
    assert "same      2 cases" in same.out
    document = json.loads(faultlab("compare", "was", "is", "--json", cwd=folder).out)
    assert len(document["differing"]) == 2
    assert document["differing"][0]["settings"] == ["Net.ReadTimeout 2s, now 3s"]


def test_compare_pairs_releases_and_says_what_cannot_be_compared(folder: Path) -> None:
    dark = folder / "s" / "dark.scenario.yaml"
    dark.write_text(dark.read_text().replace("1.27.2", "1.60.1").replace("equals: Net.ReadTimeout", "at_least: 1s"))
    done = faultlab("run", "s/dark.scenario.yaml", "--env", "sim", "--out", "newer", cwd=folder)
    assert (folder / "newer" / "runs.jsonl").exists(), done.err
    on_machine(folder / "was", "One CPU")
    shown = faultlab("compare", "is", "newer", cwd=folder)
    assert shown.code == 0
    assert "dark  sarama 1.27.2 / 1.60.1" in shown.out
    assert "only in A 1 case: darker" in shown.out
    elsewhere = faultlab("compare", "was", "is", cwd=folder)
    assert elsewhere.code == 0
    assert "two machines: times differ for that reason too" in elsewhere.out
    assert "the two have no case in common" in elsewhere.out
    nothing = faultlab("compare", "is", "newer", "--only", "x", cwd=folder)
    assert nothing.code == 5
    assert "no scenario of is is called x: nothing to compare\n  its scenarios: dark, darker" in nothing.err


def test_the_command_line_starts_without_what_the_gate_reckons_with(tmp_path: Path) -> None:
    """scipy takes half a second to import: `gate --help` and every other command must not wait for it."""
    code = "import sys, cli.commands.gate, cli.commands.compare; print({'scipy', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_of_a_suite_that_has_not_ended_nothing_is_lost_and_no_baseline_is_made(folder: Path) -> None:
    """Whether it is under way or was interrupted: what is missing may still be run."""
    runs = folder / "is" / "runs.jsonl"
    lines = runs.read_text().splitlines(keepends=True)
    runs.write_text("".join(line for line in lines if '"scenario":"dark"' in line))
    done = gate("--baseline", "was", "--current", "is", "--only", "darker", cwd=folder)
    assert done.code == 2, done.out
    assert f"is has not ended: {RUNS} of {2 * RUNS} runs are missing" in done.lines
    assert "UNSURE      darker  no run has ended yet" in done.lines
    assert "LOST" not in done.out
    assert gate("--baseline", "was", "--current", "is", cwd=folder).code == 10, "what is slower is so all the same"
    refused = gate("--update", "--current", "is", cwd=folder)
    assert refused.code == 4
    assert "is has not ended: 12 of 24 runs are missing\n  go on with it: faultlab run --resume is" in refused.err
    assert (
        f"is has not ended: {RUNS} of {2 * RUNS} runs are missing" in faultlab("compare", "was", "is", cwd=folder).out
    )


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


def test_the_commands_it_ends_with_mean_what_was_held_and_no_more(folder: Path) -> None:
    """Repeat a part, then accept it: the cases that were not run again stay in the baseline."""
    assert gate("--update", "--current", "was", cwd=folder).code == 0
    whole = gate("--current", "is", "--floor", "10ms", cwd=folder)
    assert "repeat      faultlab gate --run --floor 10ms --only dark --only darker" in whole.lines
    assert "accept      faultlab gate --update --current is" in whole.lines
    part = gate("--run", "--only", "dark", cwd=folder)
    assert part.code == 10, part.out
    (accept,) = [line for line in part.lines if line.startswith("accept")]
    assert accept == "accept      faultlab gate --update --only dark"
    assert gate(*accept.split()[3:], cwd=folder).code == 0
    after = gate("--current", "is", cwd=folder)
    assert after.lines[0].startswith("compared 2 of 2 scenarios")
    assert any(line.startswith("REGRESSED   1 slower") for line in after.lines)


def test_of_another_machine_no_part_is_accepted(folder: Path) -> None:
    on_machine(folder / "was", "One CPU, 2 cores")
    made = gate("--update", "--current", "was", cwd=folder)
    assert made.code == 0, made.err
    for more in (("--run",), ("--current", "is", "--only", "dark")):
        done = gate(*more, cwd=folder)
        assert done.code == 2, done.out
        assert "accept      faultlab run --repeat 20, then faultlab gate --update" in done.lines


def test_a_baseline_that_loses_cases_says_which(folder: Path) -> None:
    assert faultlab("run", "s", "--env", "sim", "--only", "dark", "--out", "part", cwd=folder).code == 0
    assert gate("--update", "--current", "was", cwd=folder).out.count("left") == 0
    fewer = " ".join(gate("--update", "--current", "part", cwd=folder).out.split())
    assert "1 case of the old baseline left, since the suite did not run them: darker (--only NAME" in fewer


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


def test_what_is_said_of_a_spoilt_baseline_helps(folder: Path) -> None:
    """A file that is no baseline is never written over: who wants it anew deletes it first."""
    assert gate("--update", "--current", "was", cwd=folder).code == 0
    file = folder / "faultlab-baseline.json"
    for spoilt in (file.read_text()[:300], file.read_text().replace('"counted": 12', '"counted": 1')):
        file.write_text(spoilt)
        for more in ((), ("--update",)):
            done = gate("--current", "was", *more, cwd=folder)
            assert done.code == 4
            remedy = "delete it and write it anew: faultlab gate --update --baseline faultlab-baseline.json"
            assert remedy in " ".join(done.err.split())
        assert file.read_text() == spoilt
        file.unlink()
        assert gate("--update", "--current", "was", "--baseline", "faultlab-baseline.json", cwd=folder).code == 0


def test_a_baseline_can_go_to_a_pipe(folder: Path) -> None:
    """Nothing is read from it first: that would wait for ever."""
    command = [sys.executable, "-m", "cli", "gate", "--update", "--current", "was", "--baseline", "/dev/stdout"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('{\n  "format": 1,')
    with (folder / "new.json").open("wb") as file:
        assert subprocess.run(command, cwd=folder, env=environment(), stdout=file, timeout=60).returncode == 0
    assert (folder / "new.json").read_bytes().startswith(b'{\n  "format": 1,')


def test_what_has_not_ended_is_not_offered_as_a_baseline(folder: Path) -> None:
    runs = folder / "is" / "runs.jsonl"
    runs.write_text("".join(runs.read_text().splitlines(keepends=True)[:-1]))
    done = gate("--baseline", "was", "--current", "is", cwd=folder)
    assert done.code == 10
    assert "accept" not in done.out
