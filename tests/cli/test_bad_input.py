"""Protects whoever makes a mistake: one clear message with its place, what to do, exit code 4, and no traceback."""

import json
import os
from pathlib import Path

import pytest
from command_line import faultlab, write_scenario

MISTAKES = [
    ("misspelt key", "repeat: 1", "repaet: 1", "19:1: error[unknown-key]", "did you mean repeat?"),
    ("duplicate key", "tags: [sarama]", "tags: [sarama]\ntags: [x]", "5:1: error[duplicate-key]", "tags"),
    ("sexagesimal", "Net.ReadTimeout: 2s", "Net.ReadTimeout: 1:30", "7:20: error[", "1:30"),
    ("on", "Net.ReadTimeout: 2s", "Net.ReadTimeout: on", "7:20: error[", "on"),
    ("no unit", "Net.ReadTimeout: 2s", "Net.ReadTimeout: 2", "7:20: error[", "unit"),
    (
        "unknown setting",
        "Net.ReadTimeout: 2s",
        "Net.ReadTimeoot: 2s",
        "7:3: error[unknown-setting]",
        "Net.ReadTimeout?",
    ),
    ("unknown version", "version: 1.27.2", "version: 1.27.3", "5:36: error[unknown-version]", "1.27.2"),
    ("unknown fault", "inject: blackhole", "inject: blackhol", "13:14: error[", "did you mean blackhole?"),
    ("unit error", "equals: Net.ReadTimeout", "equals: Net.ReadTimeout + 1", "16:44: error[unit]", "^^^   ^"),
    (
        "unknown name",
        "equals: Net.ReadTimeout",
        "equals: Net.ReadTimout",
        "16:44: error[unknown-name]",
        "did you mean Net.ReadTimeout?",
    ),
    ("no YAML", "cluster: {brokers: 1", "cluster: {brokers: 1]", "9:", "error["),
]


@pytest.mark.parametrize(("old", "new", "place", "said"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_shown_at_its_place(tmp_path: Path, old: str, new: str, place: str, said: str) -> None:
    path = write_scenario(tmp_path)
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    for command in ("run", "validate"):
        done = faultlab(command, path.name, cwd=tmp_path)
        assert done.code == 4
        assert done.out == ""
        assert done.err.startswith(f"{path.name}:{place}"), done.err
        assert said in done.err
        assert done.err.endswith("1 problem in 1 file; nothing was started\n")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name], "nothing was started"


def test_all_mistakes_of_all_files_at_once_for_people_ci_and_programs(tmp_path: Path) -> None:
    write_scenario(tmp_path, "one", formula="Net.Readtimeot + 1s")
    two = write_scenario(tmp_path, "two", claim="3")
    two.write_text(two.read_text().replace("repeat:", "repat:"))
    people = faultlab("validate", ".", cwd=tmp_path)
    assert people.code == 4
    assert "4 problems in 2 files" in people.err or "3 problems in 2 files" in people.err
    assert people.err.count("^") >= 3
    ci = faultlab("validate", "--ci", ".", cwd=tmp_path)
    assert ci.code == 4
    annotations = [line for line in ci.err.splitlines() if line.startswith("::error file=")]
    assert len(annotations) == ci.err.count("error[") >= 3
    programs = faultlab("validate", "--json", ".", cwd=tmp_path)
    told = json.loads(programs.out)["problems"]
    assert {(problem["path"], problem["code"]) for problem in told} >= {("two.scenario.yaml", "unknown-key")}
    assert len(told) == len(annotations)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "nofile.scenario.yaml"), "nofile.scenario.yaml:1:1: error[missing-file]: there is no such file"),
        (("run", "saramma"), "there is no file, folder or bundled scenario called saramma\n  did you mean sarama?"),
        (("run", "--env", "simm"), "'simm' is not one of 'auto', 'sim', 'local'"),
        (("run", "--seed", "x"), "'x' is not a valid integer"),
        (("run", "--repeat", "0"), "0 is not in the range"),
        (("run", "--bogus"), "No such option"),
        (("runn",), "No such command 'runn'"),
        (("report",), "Missing argument 'DIR...'"),
        (("report", "nowhere"), "nowhere is no folder\n  name a folder that `faultlab run`"),
        (("report", "r", "--on", "yarn"), "'yarn' is no master of a Spark cluster: name one as spark://host:port"),
        (("report", "r", "--spark", "jars=x"), "--spark takes spark.NAME=VALUE, not jars=x"),
        (("replay", "7f3a"), "there are no results in results/"),
        (("replay", "7f3a", "--in", "nowhere"), "nowhere is no results folder"),
        (("run", "--resume", "."), ". is no results folder: it has no manifest.json"),
        (("run", "--seed", str(1 << 63)), "Invalid value for '--seed': 9223372036854775808 is not in the range"),
        (("schema", "runs"), "'runs' is not one of"),
        ((), "Usage: faultlab"),
    ],
)
def test_wrong_usage_is_four_and_says_what_is_right(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = faultlab(*arguments, cwd=tmp_path)
    assert done.code == 4
    assert said in done.err
    assert done.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_text_and_a_folder_without_scenarios(tmp_path: Path) -> None:
    (tmp_path / "x.scenario.yaml").write_bytes(b"format: 1\nscenario: \xff\n")
    done = faultlab("run", "x.scenario.yaml", cwd=tmp_path)
    assert done.code == 4
    assert done.err.startswith("x.scenario.yaml:2:11: error[not-utf-8]")
    (tmp_path / "empty").mkdir()
    done = faultlab("run", "empty", cwd=tmp_path)
    assert done.code == 4
    assert "there is no scenario in empty, which is a folder\n" in done.err


def test_corrupt_and_cut_records_are_named_and_the_rest_is_used(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, repeat=4)
    assert faultlab("run", path.name, "--env", "sim", "--out", "r", cwd=tmp_path).code == 0
    runs = tmp_path / "r" / "runs.jsonl"
    lines = runs.read_bytes().splitlines(keepends=True)
    runs.write_bytes(lines[0] + b'{"run_id": 7}\n' + lines[2] + lines[3][:-9])
    done = faultlab("run", "--resume", "r", cwd=tmp_path)
    assert done.code == 0
    assert "2 of 4 runs were measured before" in done.out
    assert "set aside: r/runs.jsonl:2: " in done.out
    assert "PASSED  4 passed of 4 runs" in done.out
    manifest = tmp_path / "r" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"format": 1', '"format": 2'))
    for arguments in (("run", "--resume", "r"), ("replay", "0", "--in", "r")):
        newer = faultlab(*arguments, cwd=tmp_path)
        assert newer.code == 4
        assert "r/manifest.json was written by a newer faultlab: run format 2, this one reads up to 1" in newer.err
    manifest.write_text("{}")
    broken = faultlab("run", "--resume", "r", cwd=tmp_path)
    assert broken.code == 4
    assert "r/manifest.json is corrupt" in broken.err


def test_an_error_that_kafka_does_not_have_is_wrong_at_its_place(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    text = path.read_text()
    answer = "{inject: error_answer, brokers: all, code: NOT_LEADER, as: outage}"
    path.write_text(text.replace("{inject: blackhole, brokers: all, as: outage}", answer))
    done = faultlab("validate", path.name, cwd=tmp_path)
    assert (done.code, done.out) == (4, "")
    assert "dark.scenario.yaml:13:48: error[unknown-error]: " in done.err
    assert "did you mean NOT_LEADER_OR_FOLLOWER?" in done.err
    assert done.err.endswith("1 problem in 1 file; nothing was started\n")


def test_what_names_no_run_replays_none(tmp_path: Path) -> None:
    write_scenario(tmp_path)
    faultlab("run", ".", "--env", "sim", cwd=tmp_path)
    done = faultlab("replay", "", cwd=tmp_path)
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("error: RUN is empty: any run begins so\n  name the beginning of a run id")


def test_what_is_no_baseline_at_all_is_not_told_to_be_undone(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    done = faultlab("compare", path.name, path.name, cwd=tmp_path)
    assert done.code == 4
    assert done.err.startswith(
        "error: dark.scenario.yaml is no baseline: it is no JSON\n  name a results folder, or a "
    )


def test_agreement_is_not_told_to_choose_an_environment(tmp_path: Path) -> None:
    """It has no --env: simulated runs alone agree with nothing."""
    write_scenario(tmp_path)
    nowhere = {"TOXIPROXY_SERVER": "/nowhere/toxiproxy-server"}
    done = faultlab("agree", ".", "--between", "profile,sim", cwd=tmp_path, env=nowhere)
    assert done.code == 3
    assert "/nowhere/toxiproxy-server" in done.err
    assert "--env" not in done.err


def test_an_environment_that_nobody_asked_for_is_explained(tmp_path: Path) -> None:
    """Where local cannot run, `auto` takes sim, and sim starts no programs: the remedy is that of local."""
    faultlab("init", "--client", "python", "mine", cwd=tmp_path)
    nowhere = {"TOXIPROXY_SERVER": "/nowhere/toxiproxy-server"}
    done = faultlab("run", "dark.scenario.yaml", cwd=tmp_path / "mine", env=nowhere)
    assert done.code == 4
    assert "sim cannot start a program" in done.err
    why = done.err.splitlines()[-2]
    assert why.startswith("sim was taken, as local cannot run here: ")
    assert "/nowhere/toxiproxy-server" in why
    assert "--env" not in done.err.splitlines()[-1]
    asked = faultlab("run", "--env", "sim", "dark.scenario.yaml", cwd=tmp_path / "mine", env=nowhere)
    assert "sim was taken" not in asked.err
    streamed = faultlab("run", "--stream", "dark.scenario.yaml", cwd=tmp_path / "mine", env=nowhere)
    assert why in json.loads(streamed.out)["impossible"]["text"], "as pytest shows it"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "--out", ""), "Invalid value for '--out': it is empty: name a path"),
        (("run", "--junit", ""), "Invalid value for '--junit': it is empty: name a path"),
        (("run", "--junit", "."), "Invalid value for '--junit': File '.' is a directory."),
        (("run", "--resume", ""), "Invalid value for '--resume': it is empty: name a path"),
        (("gate", "--junit", "."), "Invalid value for '--junit': File '.' is a directory."),
        (("agree", "--write", "."), "Invalid value for '--write': File '.' is a directory."),
        (("init", ""), "Invalid value for '[DIR]': it is empty: name a path"),
        (("run", ""), "an empty word names no scenario\n  is a variable not set?"),
        (("validate", "."), "there is no scenario in ., which is a folder"),
    ],
)
def test_an_empty_path_and_a_folder_for_a_file_are_refused_before_anything_runs(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    """A script leaves an empty word where a variable of its own is not set: it does not mean the folder it is in."""
    done = faultlab(*arguments, cwd=tmp_path)
    assert (done.code, done.out) == (4, "")
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_no_scenario_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for command in ("run", "validate", "list"):
        done = faultlab(command, "pipe", cwd=tmp_path)
        assert (done.code, done.out) == (4, "")
        assert done.err.startswith("pipe:1:1: error[unreadable]: this file cannot be read: it is a pipe, a socket or")


def test_a_link_that_leads_nowhere_is_not_suggested_for_itself(tmp_path: Path) -> None:
    for name in ("lost.scenario.yaml", "lost"):
        (tmp_path / name).symlink_to("nowhere")
    for words, said in (
        (("lost.scenario.yaml",), "lost.scenario.yaml:1:1: error[missing-file]: there is no such file or folder\n"),
        (("lost",), "error: there is no file, folder or bundled scenario called lost\n"),
    ):
        done = faultlab("validate", *words, cwd=tmp_path)
        assert done.code == 4
        assert done.err.startswith(said)
        assert "did you mean lost" not in done.err


def test_a_folder_that_is_gone_is_no_bug(tmp_path: Path) -> None:
    """As after `git clean` or a new checkout in another window."""
    leave = ("sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh")
    for command in (("run", "--env", "sim"), ("list",), ("validate", "x.yaml"), ("agree",)):
        done = faultlab(*command, cwd=tmp_path, before=leave)
        assert (done.code, done.out) == (4, "")
        assert done.err == "error: the folder that this was started in is gone\n  go to one that is there: cd\n"
