"""Protects the gate's baseline: what is written over it and what is not, and that the commands which are shown for it
mean what they seem to mean."""

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import environment, faultlab
from gated import RUNS, gate, on_machine

pytestmark = pytest.mark.ci


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
    assert "is has not ended: 12 of 24 runs are missing\n  resume it: faultlab run --resume is" in refused.err
    assert (
        f"is has not ended: {RUNS} of {2 * RUNS} runs are missing" in faultlab("compare", "was", "is", cwd=folder).out
    )


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


def test_what_is_said_of_a_spoilt_baseline_helps(folder: Path) -> None:
    """A file that is no baseline is never written over: who wants it anew deletes it first."""
    assert gate("--update", "--current", "was", cwd=folder).code == 0
    file = folder / "faultlab-baseline.json"
    for spoilt in (file.read_text()[:300], file.read_text().replace('"counted": 12', '"counted": 1')):
        file.write_text(spoilt)
        for more in ((), ("--update",)):
            done = gate("--current", "was", *more, cwd=folder)
            assert done.code == 4
            remedy = "delete it and write it again: faultlab gate --update --baseline faultlab-baseline.json"
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
