"""Protects what other people's CI has of a suite: a log that folds and never moves, a line for each failure at its
place, the job's summary with what needs attention first, JUnit XML; and no command by a program under test."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from command_line import COMMAND, environment, faultlab, write_scenario

GITHUB = {"GITHUB_ACTIONS": "true", "CI": "true"}
ROOT = Path(__file__).parents[2]


def groups_of(out: str) -> list[str]:
    """The titles of GitHub's groups; none is left open, none lies in another."""
    titles, open_ = [], False
    for line in out.splitlines():
        if line.startswith("::group::"):
            assert not open_, "GitHub's groups do not nest"
            titles.append(line.removeprefix("::group::"))
            open_ = True
        elif line == "::endgroup::":
            assert open_
            open_ = False
    assert not open_
    return titles


def test_a_suite_on_github(tmp_path: Path) -> None:
    write_scenario(tmp_path / "lab", "one", formula="Net.ReadTimeout + 2*Net.DialTimeout", repeat=2)
    write_scenario(tmp_path / "lab", "two")
    runner = {**GITHUB, "GITHUB_WORKSPACE": str(tmp_path), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    done = faultlab("run", "--env", "sim", "--ci", ".", "--out", "r", cwd=tmp_path / "lab", env=runner)
    assert done.code == 1
    assert "\x1b" not in done.out
    assert groups_of(done.out) == ["the runs", "FAIL one probe.time_to_error one.scenario.yaml:16"]
    (command,) = [line for line in done.lines if line.startswith("::error")]
    said = command.partition("title=failed::")[2]
    assert command.startswith(
        "::error file=lab/one.scenario.yaml,line=16,title=failed::one, sarama 1.27.2, Retry.Max=0: "
    )
    assert "probe.time_to_error expected 4.000 s ± 0.090, measured 2.000 s (faultlab replay" in said
    assert f"one.scenario.yaml:16: error[failed]: {said}" in done.lines, "the same in one line"
    assert done.lines[-1].endswith("exit 1")
    unfolded = re.sub(r"::group::.*?::endgroup::", "", done.out, flags=re.DOTALL)
    assert "FAIL  one  sarama 1.27.2" in unfolded, "the closing table is seen at once"
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("### faultlab: FAILED\n\n2 failed, 1 passed of 3 runs; claims as declared: 1 refuted")
    first, second = [line for line in summary.splitlines() if line.startswith("| ") and "sarama" in line]
    assert first.startswith("| **FAIL** | one<br>Retry.Max=0 | sarama 1.27.2 |")
    assert "| 4.000 s ± 0.090 | 2.000 s | -2.000 s | 0/2 | <code>faultlab replay" in first
    assert second.startswith("| pass | two")
    root = fromstring((tmp_path / "lab" / "r" / "junit.xml").read_bytes())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "2", "0")


def test_the_same_log_on_other_systems(tmp_path: Path) -> None:
    write_scenario(tmp_path, formula="Net.DialTimeout")
    gitlab = faultlab("run", "--env", "sim", "--ci", ".", cwd=tmp_path, env={"GITLAB_CI": "true"})
    assert gitlab.code == 1
    begun = re.findall(r"\x1b\[0Ksection_start:\d+:(\w+)\[collapsed=true\]\s\x1b\[0K", gitlab.out)
    ended = re.findall(r"\x1b\[0Ksection_end:\d+:(\w+)\s\x1b\[0K", gitlab.out)
    assert len(begun) == 2
    assert begun == ended
    assert "::" not in gitlab.out
    assert "dark.scenario.yaml:16: error[failed]: dark, sarama" in gitlab.out
    other = faultlab("run", "--env", "sim", "--ci", ".", cwd=tmp_path)
    assert "\x1b" not in other.out
    assert "\n== the runs\n" in other.out
    assert other.out.count("::error file=dark.scenario.yaml,line=16") == 1


def test_a_terminal_does_not_shape_the_log(tmp_path: Path) -> None:
    write_scenario(tmp_path, retries="[0, 1]", formula="2*Net.ReadTimeout")
    piped = faultlab("run", "--env", "sim", "--ci", ".", "--out", "r1", cwd=tmp_path, env={**GITHUB, "COLUMNS": "250"})
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "run", "--env", "sim", "--ci", ".", "--out", "r2"],
        cwd=tmp_path, env=environment(TERM="xterm-256color", FORCE_COLOR="1", **GITHUB), stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 65536):
            seen += part
    except OSError:  # Linux says so when the other side is closed
        pass
    assert process.wait(60) == 1
    os.close(ours)

    def comparable(text: str) -> str:
        return re.sub(r" +\d+\.\d s\n", "", text).replace("r2", "r1")

    assert comparable(seen.decode().replace("\r\n", "\n")) == comparable(piped.out)


def test_what_tested_nothing_is_a_warning_and_never_passed(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    healed = "  - {heal: outage}\n  - {do: send, as: probe"
    path.write_text(path.read_text().replace("  - {do: send, as: probe", healed))
    done = faultlab("run", "--env", "sim", "--ci", ".", "--out", "r", cwd=tmp_path, env=GITHUB)
    assert done.code == 2
    (warning,) = [line for line in done.lines if line.startswith("::warning")]
    assert "title=inconclusive::dark, sarama 1.27.2, Retry.Max=0: " in warning
    assert "fault `outage` dropped 0 packets" in warning
    (error,) = fromstring((tmp_path / "r" / "junit.xml").read_bytes()).iter("error")
    assert error.get("type") == "inconclusive"
    assert "dropped 0 packets" in error.get("message", "")


def test_junit_goes_where_it_was_asked_for_with_and_without_ci(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    done = faultlab("run", "--env", "sim", ".", "--out", "r", "--junit", "there/tests.xml", cwd=tmp_path)
    assert done.code == 0
    assert not (tmp_path / "r" / "junit.xml").exists()
    assert fromstring((tmp_path / "there" / "tests.xml").read_bytes()).get("tests") == "1"
    both = faultlab("run", "--env", "sim", ".", "--out", "s", "--ci", "--junit", "two.xml", cwd=tmp_path)
    assert both.code == 0
    assert (tmp_path / "two.xml").read_bytes() == (tmp_path / "s" / "junit.xml").read_bytes()
    (tmp_path / "file").write_text("")
    lost = faultlab("run", "--env", "sim", ".", "--out", "t", "--ci", "--junit", "file/x.xml", cwd=tmp_path, env=GITHUB)
    assert lost.code == 3, "what CI waits for is not there"
    assert "PASSED  1 passed of 1 run" in lost.out
    assert "error: cannot write file/x.xml: " in lost.err
    assert "::error title=faultlab::cannot write file/x.xml: " in lost.err


def test_json_keeps_stdout_for_itself(tmp_path: Path) -> None:
    write_scenario(tmp_path, formula="Net.DialTimeout")
    done = faultlab("run", "--env", "sim", ".", "--ci", "--json", "--out", "r", cwd=tmp_path, env=GITHUB)
    assert json.loads(done.out)["exit_code"] == done.code == 1
    assert "::error file=dark.scenario.yaml,line=16" in done.err


def test_the_document_s_cases_have_the_fields_that_are_explained(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    (case,) = json.loads(faultlab("run", "--env", "sim", ".", "--json", cwd=tmp_path).out)["cases"]
    page = (ROOT / "docs" / "RUN_FORMAT.md").read_text().partition("\n## What `--json`")[2]
    cells = re.findall(r"^\| (`[^|]+) \|", page, flags=re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == set(case)


def test_a_replay_is_shown_in_the_same_way(tmp_path: Path) -> None:
    write_scenario(tmp_path, formula="Net.DialTimeout")
    first = faultlab("run", "--env", "sim", ".", "--ci", cwd=tmp_path, env=GITHUB)
    run_id = next(line for line in first.lines if line.startswith("replay")).split()[-1]
    again = faultlab("replay", run_id, "--ci", "--out", "again", cwd=tmp_path, env=GITHUB)
    assert again.code == 1
    assert groups_of(again.out)[0] == "the runs"
    assert (tmp_path / "again" / "junit.xml").exists()


def test_mistakes_of_the_command_are_annotated_too(tmp_path: Path) -> None:
    done = faultlab("run", "--ci", "saramma", cwd=tmp_path, env=GITHUB)
    assert done.code == 4
    assert done.err.splitlines()[-1] == (
        "::error title=faultlab::there is no file, folder or bundled scenario called saramma%0A  did you mean sarama?"
    )
    assert "::" not in faultlab("run", "saramma", cwd=tmp_path, env=GITHUB).err


RUDE = """\
#!{python}
import json, sys, time
def say(**event): print(json.dumps(event), flush=True)
say(ev="ready", clock_ns=time.monotonic_ns())
for line in sys.stdin:
    command = json.loads(line)
    now = time.monotonic_ns()
    say(ev="started", id=command["id"], at_ns=now)
    if command["op"] == "send":
        rude = "::error file=x::owned\\n::stop-commands::t ##[command]x \\x1b[0Ksection_start:1:x\\r" + " ::y" * 30
        say(ev="error", id=command["id"], at_ns=now, error=rude)
    else:
        say(ev="ok", id=command["id"], at_ns=now)
"""
ASKED = """\
format: 1
scenario: rude
about: A program that would give orders to the CI system.
client: {driver: {exec: [./mine]}, name: mine}
cluster: {brokers: 1, topics: [{name: orders}]}
steps:
  - {do: connect}
  - {do: send, as: probe, expect: acknowledged}
expect:
  - {measure: probe.time_to_error, at_least: 1s}
"""


@pytest.mark.ci
@pytest.mark.cell
def test_a_program_under_test_gives_no_command(tmp_path: Path) -> None:
    (tmp_path / "rude.scenario.yaml").write_text(ASKED)
    (tmp_path / "mine").write_text(RUDE.format(python=sys.executable))
    (tmp_path / "mine").chmod(0o755)
    summary = tmp_path / "summary.md"
    env = {**GITHUB, "GITHUB_STEP_SUMMARY": str(summary)}
    done = faultlab("run", ".", "--env", "local", "--ci", "--out", "r", cwd=tmp_path, env=env)
    assert done.code == 1, done.out + done.err
    assert "owned" in done.out, "it is told"
    commands = [line for line in done.lines if line.strip().startswith("::")]
    assert {line.strip().split()[0].split("::")[1] for line in commands} <= {"group", "endgroup", "error", "warning"}
    assert not [line for line in commands if "owned" in line and "title=" not in line]
    assert "##[" not in done.out
    assert "\x1b" not in done.out + summary.read_text()
    fromstring((tmp_path / "r" / "junit.xml").read_bytes())


def test_an_interrupted_suite_hands_over_what_it_has(tmp_path: Path) -> None:
    """As a runner that cancels a job does it: what was not run has not passed."""
    write_scenario(tmp_path, repeat=900)
    process = subprocess.Popen(
        [*COMMAND, "run", ".", "--env", "sim", "--ci", "--out", "r"],
        cwd=tmp_path, env=environment(**GITHUB), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    runs = tmp_path / "r" / "runs.jsonl"
    end = time.monotonic() + 60
    while not (runs.exists() and runs.stat().st_size) and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    groups_of(out)
    root = fromstring((tmp_path / "r" / "junit.xml").read_bytes())
    measured = len(runs.read_text().splitlines())
    assert 0 < measured < 900
    assert (int(root.get("tests", "")), int(root.get("errors", ""))) == (900, 900 - measured)


def test_a_stream_that_is_named_for_junit_is_written_into_and_never_replaced(tmp_path: Path) -> None:
    """/dev/stdout is a link: a file in its place would leave the whole machine without it."""
    write_scenario(tmp_path)
    own = tmp_path / "stdout"
    own.symlink_to("/dev/stdout")
    done = faultlab("run", "--env", "sim", ".", "--out", "r", "--junit", "stdout", cwd=tmp_path)
    assert done.code == 0, done.err
    assert '<testsuites name="faultlab"' in done.out
    assert "PASSED  1 passed of 1 run" in done.out
    assert own.readlink() == Path("/dev/stdout")
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    lost = faultlab("run", "--env", "sim", ".", "--out", "s", "--junit", "full", cwd=tmp_path)
    assert "cannot write full: No space left on device" in lost.out + lost.err
    assert Path("/dev/full").is_char_device()
