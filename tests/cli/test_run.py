"""Protects what a user sees of a suite: rows while it runs, details of failures, the verdict last, its exit code."""

import itertools
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from command_line import COMMAND, environment, faultlab, write_scenario

from harness.records.reader import read


@pytest.mark.ci
def test_the_bundled_scenarios_pass_on_sim_in_an_empty_folder(tmp_path: Path) -> None:
    done = faultlab("run", "--env", "sim", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert re.match(r"\d+ scenarios, \d+ runs, sim, 1 cell, seed 7\n", done.out)
    assert re.search(r"^longest \d+ min \d+ s by formula, simulated", done.lines[1])
    assert done.err == ""
    assert done.widest() <= 80
    assert "\x1b" not in done.out
    results, report = done.lines[-2:]
    verdict = " ".join(done.out[done.out.index("\nPASSED") : done.out.index("\nresults")].split())
    assert re.match(r"PASSED \d+\.\d s (\d+) passed of \1 runs; claims as declared: \d+ refuted, \d+ held", verdict)
    folder = results.split()[1]
    assert report.startswith(f"report  faultlab report {folder}")
    assert report.endswith("exit 0")
    assert read(tmp_path / folder).missing == ()
    assert [path.name for path in tmp_path.iterdir()] == ["results"]


def test_a_failure_shows_where_the_time_went_and_ends_with_its_replay(tmp_path: Path) -> None:
    write_scenario(tmp_path, formula="Net.ReadTimeout + 2*Net.DialTimeout", retries="[0]", repeat=2)
    done = faultlab("run", ".", "--env", "sim", cwd=tmp_path)
    assert done.code == 1
    assert done.widest() <= 80
    block = done.out[done.out.index("\nFAIL  dark  probe.time_to_error   dark.scenario.yaml:16") :]
    assert "expected   4.000 s ± 0.090   measured 2.000 s   -2.000 s   runs 2.000 2.000" in block
    assert re.search(r"Net\.DialTimeout +2 x 1\.000 +2\.000 +0 x +0\.000 +-2\.000 +2 missing", block)
    assert re.search(r"^  r{38} *\n", block, flags=re.MULTILINE), "the strip is as long as its share of the formula"
    assert re.search(r"  never waited on  .*Net\.DialTimeout", block)
    (prefix,) = set(re.findall(r"^replay  faultlab replay (\w+)$", done.out, flags=re.MULTILINE))
    assert f"  replay     faultlab replay {prefix}\n" in block
    assert done.lines[-4].startswith("FAILED  2 failed of 2 runs; claims as declared: 1 refuted")
    assert done.lines[-1].endswith("exit 1")


def test_cases_that_fail_alike_have_one_block_and_a_line_each(tmp_path: Path) -> None:
    """The worst in full; of the others what differs, so that nine failures are one thing to understand."""
    write_scenario(tmp_path, formula="Net.DialTimeout", retries="[0, 1, 2]")
    done = faultlab("run", ".", "--env", "sim", cwd=tmp_path)
    assert done.code == 1
    heads = [line for line in done.lines if line.startswith("FAIL  dark  probe.time_to_error")]
    assert len(heads) == 1
    start = done.lines.index(heads[0])

    others = done.lines.index("  also failed in 2 other cases:")
    assert others > start
    lines = done.lines[others + 1 : others + 3]
    assert {re.search(r"Retry\.Max=\d", line)[0] for line in lines} == {"Retry.Max=0", "Retry.Max=2"}  # type: ignore[index]
    assert all(re.search(r"\d\.\d{3} s +\+\d\.\d{3}", line) for line in lines)
    (last,) = re.findall(r"^replay  (faultlab replay \w+)$", done.out, flags=re.MULTILINE)
    assert f"  replay     {last}" in done.lines[start:others], "the last lines name the worst"


def test_a_replay_is_the_same_run_in_a_folder_of_its_own(tmp_path: Path) -> None:
    write_scenario(tmp_path, formula="Net.DialTimeout", repeat=3)
    first = faultlab("run", "dark.scenario.yaml", "--env", "sim", "--out", "results/one", cwd=tmp_path)
    assert first.code == 1
    wanted = read(tmp_path / "results" / "one").runs[1]
    again = faultlab("replay", wanted.run_id[:6], "--out", "results/two", cwd=tmp_path)
    assert again.code == 1, again.err
    (replayed,) = read(tmp_path / "results" / "two").runs
    assert (replayed.run_id, replayed.seed, replayed.repeat) == (wanted.run_id, wanted.seed, 2)
    assert replayed.measures == wanted.measures
    events = [(tmp_path / "results" / name / "events.jsonl").read_text().splitlines() for name in ("one", "two")]
    assert [e for e in events[0] if wanted.run_id in e] == events[1], "same seed, same events"
    assert faultlab("replay", wanted.run_id[:6], "--in", "results/two", cwd=tmp_path).code == 1
    nothing = faultlab("replay", "zzzz", cwd=tmp_path)
    assert nothing.code == 4
    assert "no run in the 3 suites in results/ begins with zzzz" in nothing.err
    write_scenario(tmp_path, formula="2*Net.DialTimeout", repeat=3)
    changed = faultlab("replay", wanted.run_id[:6], cwd=tmp_path)
    assert changed.code == 4
    assert wanted.run_id in changed.err


def test_an_interrupted_suite_is_resumed_with_the_same_runs(tmp_path: Path) -> None:
    """As a crash leaves it: a cut line, and events of a run that has no line."""
    write_scenario(tmp_path, retries="[0, 1]", formula="Net.ReadTimeout", repeat=3)
    whole = faultlab("run", ".", "--env", "sim", "--out", "r", "--seed", "11", cwd=tmp_path)
    before = read(tmp_path / "r")
    lines = (tmp_path / "r" / "runs.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "r" / "runs.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][:40])
    resumed = faultlab("run", "--resume", "r", cwd=tmp_path)
    assert resumed.code == whole.code == 1
    assert "2 of 6 runs were measured before" in resumed.out
    after = read(tmp_path / "r")
    assert after.quarantined == ()
    assert [(run.run_id, run.attempt, run.verdict) for run in after.runs] == [
        (run.run_id, run.attempt, run.verdict) for run in before.runs
    ]
    assert len(after.tries) == 6
    assert whole.lines[-4].split("   ")[0] == resumed.lines[-4].split("   ")[0], "the same verdict line"
    complete = faultlab("run", "--resume", "r", cwd=tmp_path)
    assert complete.code == 1
    assert "6 of 6 runs were measured before" in complete.out


def test_resuming_refuses_what_would_mix_and_what_cannot_be(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, repeat=2)
    faultlab("run", path, "--env", "sim", "--out", "r", cwd=tmp_path)
    for arguments, message in [
        (("--resume", "r", "--seed", "3"), "--seed cannot be given too"),
        (("--resume", "r", path), "paths cannot be given too"),
        (("--resume", "r", "--env", "sim"), "--env cannot be given too"),
        (("--resume", "nowhere"), "nowhere is no results folder: it has no manifest.json"),
        ((path, "--env", "sim", "--out", "r"), "r already holds a suite (manifest.json)"),
    ]:
        done = faultlab("run", *arguments, cwd=tmp_path)
        assert done.code == 4
        assert message in done.err
    write_scenario(tmp_path, repeat=2, formula="2*Net.ReadTimeout")
    changed = faultlab("run", "--resume", "r", cwd=tmp_path)
    assert changed.code == 4
    assert "dark changed since r was begun: 2 of its 2 runs are no more" in changed.err
    assert len(read(tmp_path / "r").tries) == 2


def test_json_is_one_document_on_stdout_and_nothing_else(tmp_path: Path) -> None:
    write_scenario(tmp_path, formula="Net.DialTimeout", repeat=2)
    done = faultlab("run", ".", "--env", "sim", "--json", "--out", "r", cwd=tmp_path)
    told = json.loads(done.out)
    assert done.code == told["exit_code"] == 1
    assert told["verdict"] == "failed"
    assert told["counts"]["fail"] == told["planned"] == len(told["runs"]) == 2
    assert told["results"] == "r"
    assert set(told["replay"]) == {run["run_id"] for run in told["runs"]}
    assert "FAILED  2 failed of 2 runs" in done.err


def test_a_claim_against_its_declaration_fails(tmp_path: Path) -> None:
    write_scenario(tmp_path, claim="3*Net.ReadTimeout", holds="true")
    done = faultlab("run", ".", "--env", "sim", cwd=tmp_path)
    assert done.code == 1
    assert "claim refuted, declared `holds: true`: 3*Net.ReadTimeout" in done.out
    assert "claims not as declared: 1 refuted" in done.out


def test_what_tested_nothing_is_inconclusive_with_its_reason(tmp_path: Path) -> None:
    text = (
        write_scenario(tmp_path)
        .read_text()
        .replace("  - {do: send, as: probe", "  - {heal: outage}\n  - {do: send, as: probe")
    )
    (tmp_path / "dark.scenario.yaml").write_text(text)
    done = faultlab("run", ".", "--env", "sim", cwd=tmp_path)
    assert done.code == 2
    assert "INCONCLUSIVE  dark  sarama 1.27.2" in done.out
    assert "fault `outage` dropped 0 packets: nothing was tested" in done.out
    assert re.search(r"^replay  faultlab replay \w+$", done.out, flags=re.MULTILINE)


def test_selection_by_name_and_tag_and_nothing_left_is_five(tmp_path: Path) -> None:
    write_scenario(tmp_path, "one", tags="a")
    write_scenario(tmp_path, "two", tags="b")
    write_scenario(tmp_path, "three", tags="c")

    def names(*options: str) -> set[str]:
        done = faultlab("run", ".", "--env", "sim", "--json", *options, cwd=tmp_path)
        return {run["scenario"] for run in json.loads(done.out)["runs"]}

    assert names("--tag", "a", "--tag", "b") == {"one", "two"}
    assert names("--only", "t*") == {"two", "three"}
    nothing = faultlab("run", ".", "--env", "sim", "--tag", "d", cwd=tmp_path)
    assert nothing.code == 5
    assert nothing.err.startswith("error: no scenario was selected: nothing was run\n")
    assert "tags: a, b, c" in nothing.err


def test_wide_terminals_and_ci_look_the_same(tmp_path: Path) -> None:
    write_scenario(tmp_path, retries="[0, 1]", formula="2*Net.ReadTimeout")
    texts = set()
    for number, (columns, more) in enumerate(
        itertools.product(("40", "250"), ({"NO_COLOR": "1"}, {"FORCE_COLOR": "1", "CI": "true"}))
    ):
        out = f"r{number}"
        done = faultlab("run", ".", "--env", "sim", "--out", out, cwd=tmp_path, env={"COLUMNS": columns, **more})
        assert done.widest() <= 80
        texts.add(re.sub(r"\d+\.\d s\n", "", done.out).replace(out, "r"))
    assert len(texts) == 1


def test_a_reader_that_goes_away_is_no_error_message(tmp_path: Path) -> None:
    run = subprocess.Popen(
        [*COMMAND, "run", "--env", "sim"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert run.stdout is not None
    assert run.stderr is not None
    run.stdout.readline()
    run.stdout.close()
    err = run.stderr.read()
    assert run.wait(60) == 141
    assert err == b""
    (folder,) = (tmp_path / "results").iterdir()
    read(folder)


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_output_survives_terminals_without_unicode(tmp_path: Path, locale: str) -> None:
    write_scenario(tmp_path, formula="Net.DialTimeout")
    done = faultlab(
        "run", ".", "--env", "sim", cwd=tmp_path, env={"LC_ALL": locale, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    )
    assert done.code == 1
    assert "1.000 s ? 0.060   measured 2.000 s" in done.out


def test_commands_that_it_names_can_be_given_as_they_stand(tmp_path: Path) -> None:
    """In folders with spaces, too: a command that is copied from a log has to find its results."""
    write_scenario(tmp_path, formula="2*Net.ReadTimeout")
    done = faultlab("run", ".", "--env", "sim", "--out", "my results/it's", cwd=tmp_path)
    assert done.code == 1
    (command,) = {line.partition("replay")[2].strip() for line in done.lines if line.startswith("replay ")}
    program, *words = shlex.split(command)
    assert (program, words[0]) == ("faultlab", "replay")
    assert faultlab(*words, "--out", "again", cwd=tmp_path).code == 1
    assert done.lines[-1].startswith("report  faultlab report 'my results/it'\"'\"'s'")
    there = faultlab("run", ".", "--env", "sim", "--out", "my results/it's", cwd=tmp_path)
    assert "(faultlab run --resume 'my results/it'\"'\"'s')" in there.err
