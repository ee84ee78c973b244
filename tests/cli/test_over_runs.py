"""Protects expectations over many runs on the command line: they count in the table, the exit code and the JSON
document, and a single replayed run is not judged for all."""

import json
import re
from pathlib import Path

from command_line import faultlab, write_scenario

from harness.records.reader import read

VERDICT = "FAILED  60 judged together of 60 runs; over repeats: 1 failed, 1 passed"
LUCK = """\
format: 1
scenario: luck
about: Two of three bootstrap addresses belong to nobody.
client: {{profile: sarama, version: 1.27.2, bootstrap: [1, dark, dark]}}
settings: {{Net.DialTimeout: 100ms}}
cluster: {{brokers: 1, topics: [{{name: orders}}]}}
steps:
  - {{do: connect, as: probe, expect: ok}}
expect:
  - {{mean: probe.time_to_end, between: [0s, 300ms], equals: {mean}, within: 60ms}}
  - {{share: probe.time_to_end < Net.DialTimeout, equals: 1/3, within: 0.3}}
repeat: {repeat}
"""


def write(folder: Path, *, mean: str = "Net.DialTimeout", repeat: int = 60) -> Path:
    path = folder / "luck.scenario.yaml"
    path.write_text(LUCK.format(mean=mean, repeat=repeat))
    return path


def test_what_holds_over_many_runs_passes_and_stands_in_the_row(tmp_path: Path) -> None:
    done = faultlab("run", "--env", "sim", "--out", "r", write(tmp_path), cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    at = max(number for number, line in enumerate(done.lines) if line.startswith("pass  luck  sarama 1.27.2"))
    assert done.lines[at].endswith("60/60")
    mean, share = (" ".join(line.split()) for line in done.lines[at + 1 : at + 3])
    assert mean.startswith("pass :10 mean probe.time_to_end 0.100 s 0.")
    assert share.startswith("pass :11 share probe.time_to_end < Net.DialTimeout"), "each expectation has its row"
    groups = [json.loads(line) for line in (tmp_path / "r" / "groups.jsonl").read_text().splitlines()]
    assert [(group["statistic"], group["outcome"], group["runs"]) for group in groups] == [
        ("mean", "held", 60), ("share", "held", 60),
    ]  # fmt: skip


def test_what_fails_over_many_runs_fails_the_suite_with_its_figures(tmp_path: Path) -> None:
    done = faultlab("run", "--env", "sim", "--out", "r", write(tmp_path, mean="240ms"), cwd=tmp_path)
    assert done.code == 1
    assert done.widest() <= 80
    start = next(n for n, line in enumerate(done.lines) if line.startswith("FAIL  luck"))
    block = "\n".join(done.lines[start : start + 12])
    assert "luck.scenario.yaml:10" in block
    assert "over runs  mean probe.time_to_end, 60 of 60 runs" in block
    assert "expected   0.240 s ± 0.060   measured 0." in block
    assert "the true value is below 0.180 s" in " ".join(block.split())
    assert "60/60" not in done.out
    assert not any(line.startswith("pass ") and "60 runs" in line for line in done.lines)
    assert "faultlab replay" in block
    assert any(line.startswith(VERDICT) for line in done.lines)


def test_too_few_runs_are_inconclusive_and_say_how_many_it_takes(tmp_path: Path) -> None:
    done = faultlab("run", "--env", "sim", "--out", "r", write(tmp_path, repeat=12), cwd=tmp_path)
    assert done.code == 2
    told = " ".join(done.out.split())
    assert "share probe.time_to_end < Net.DialTimeout: 12 runs are too few for this tolerance: needs 50 runs" in told
    more = faultlab(
        "run", "--env", "sim", "--out", "m", "--repeat", "60", tmp_path / "luck.scenario.yaml", cwd=tmp_path
    )
    assert more.code == 0, more.out


def test_a_replay_of_one_run_is_not_judged_for_all_and_says_so(tmp_path: Path) -> None:
    faultlab("run", "--env", "sim", "--out", "results/r", write(tmp_path), cwd=tmp_path)
    run_id = json.loads((tmp_path / "results" / "r" / "runs.jsonl").read_text().splitlines()[0])["run_id"]
    done = faultlab("replay", run_id, cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert "1 passed of 1 run" in done.out
    told = re.match(
        r"mean probe\.time_to_end, share probe\.time_to_end < Net\.DialTimeout are judged over all 60 repeats, not"
        r" over one run; run them all: (faultlab replay \w+ --group) ",
        " ".join(done.out.split()),
    )
    assert told, done.out
    assert done.widest() <= 80
    quiet = faultlab("replay", run_id, "--json", cwd=tmp_path)
    assert json.loads(quiet.out)["planned"] == 1
    assert "--group" in quiet.err


def test_a_case_that_only_all_runs_fail_is_replayed_as_a_whole(tmp_path: Path) -> None:
    first = faultlab("run", "--env", "sim", "--out", "results/r", write(tmp_path, mean="240ms"), cwd=tmp_path)
    commands = re.findall(r"^ *replay +(faultlab replay .*)$", first.out, flags=re.MULTILINE)
    assert len(commands) == 2, first.out
    assert len(set(commands)) == 1, "the block of the failure and the last lines say the same"
    assert commands[0].endswith(" --group")
    again = faultlab(*commands[0].split()[1:], "--out", "results/again", cwd=tmp_path)
    assert again.code == 1, again.out + again.err
    assert any(line.startswith(VERDICT) for line in again.lines)
    groups = [(tmp_path / "results" / name / "groups.jsonl").read_text() for name in ("r", "again")]
    assert groups[0] == groups[1], "the same seeds, the same verdicts"


def test_a_group_is_the_runs_of_one_case_whatever_is_expected_of_them(tmp_path: Path) -> None:
    write_scenario(tmp_path, formula="Net.DialTimeout", retries="[0, 1]", repeat=3)
    assert faultlab("run", ".", "--env", "sim", "--out", "results/r", cwd=tmp_path).code == 1
    runs = read(tmp_path / "results" / "r").runs
    done = faultlab("replay", runs[4].run_id, "--group", "--out", "results/g", cwd=tmp_path)
    assert done.code == 1
    kept = read(tmp_path / "results" / "g")
    assert sorted(kept.manifest.run_ids) == sorted(r.run_id for r in runs if r.parameters == runs[4].parameters)
    alone = faultlab("replay", kept.runs[0].run_id[:4], "--in", "results/g", cwd=tmp_path)
    assert alone.code == 1, alone.err
    assert "all 3 repeats" not in alone.out


def test_the_json_document_has_the_groups(tmp_path: Path) -> None:
    done = faultlab("run", "--env", "sim", "--out", "r", "--json", write(tmp_path, mean="240ms"), cwd=tmp_path)
    document = json.loads(done.out)
    assert (document["exit_code"], document["verdict"]) == (1, "failed")
    assert [group["verdict"] for group in document["groups"]] == ["fail", "pass"]


def test_a_suite_cut_short_is_judged_when_it_is_whole(tmp_path: Path) -> None:
    """As an interruption leaves it: half of its lines, and no word on what they amount to."""
    faultlab("run", "--env", "sim", "--out", "r", write(tmp_path), cwd=tmp_path)
    folder = tmp_path / "r"
    before = (folder / "groups.jsonl").read_text()
    lines = (folder / "runs.jsonl").read_text().splitlines(keepends=True)
    (folder / "runs.jsonl").write_text("".join(lines[:30]))
    done = faultlab("run", "--resume", "r", cwd=tmp_path)
    assert done.code == 0, done.out + done.err
    assert (folder / "groups.jsonl").read_text() == before


def test_claims_over_many_runs_stand_among_the_claims(tmp_path: Path) -> None:
    """As declared they fail nothing; against their declaration they do."""
    claim = "{{share: probe.time_to_end < Net.DialTimeout, claim: 9/10, within: 0.1, holds: {holds}, source: article}}"
    path = write(tmp_path)
    whole = path.read_text()
    for holds, code, told in (
        ("false", 0, "claims as declared: 1 refuted"),
        ("true", 1, "not as declared: 1 ref"),
    ):
        path.write_text(whole.replace("repeat:", f"  - {claim.format(holds=holds)}\nrepeat:"))
        done = faultlab("run", "--env", "sim", "--out", f"r-{holds}", path, cwd=tmp_path)
        assert done.code == code, done.out
        assert done.widest() <= 80
        start = next(n for n, line in enumerate(done.lines) if line.startswith("claim REFUTED"))
        block = " ".join(" ".join(done.lines[start : start + 3]).split())
        assert block.startswith("claim REFUTED share probe.time_to_end < Net.DialTimeout: 9/10 0.900 0."), block
        assert f"article; declared `holds: {holds}`" in block
        assert told in " ".join(done.out.split())
