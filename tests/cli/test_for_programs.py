"""Protects what programs read: cases by their ids, mistakes beside what is right, each case as soon as it is over."""

import json
from pathlib import Path
from typing import Any

from command_line import Done, faultlab, write_scenario

from harness.records.reader import read


def lines(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.lines]


def test_list_tells_cases_and_mistakes_together(tmp_path: Path) -> None:
    write_scenario(tmp_path, "good", retries="[0, 1]", repeat=2)
    write_scenario(tmp_path, "bad", formula="Net.ReadTimeoutt")
    done = faultlab("list", ".", "--json", cwd=tmp_path)
    assert done.code == 4
    told = json.loads(done.out)
    (scenario,) = told["scenarios"]
    assert [(case["id"], case["runs"]) for case in scenario["cases"]] == [
        ("good[Producer.Retry.Max=0]", 2), ("good[Producer.Retry.Max=1]", 2),
    ]  # fmt: skip
    (problem,) = told["problems"]
    assert (problem["path"], problem["line"]) == ("bad.scenario.yaml", 16)
    assert problem["text"] in done.err, "a program shows what a person is shown"


def test_a_case_runs_alone_and_its_replay_too(tmp_path: Path) -> None:
    write_scenario(tmp_path, "two", retries="[0, 1]", formula="Net.DialTimeout")
    one = faultlab("run", ".", "--env", "sim", "--case", "two[Producer.Retry.Max=1]", "--out", "r", cwd=tmp_path)
    assert one.code == 1
    (run,) = read(tmp_path / "r").runs
    assert [(p.name, p.text) for p in run.parameters] == [("settings.Producer.Retry.Max", "1")]
    assert faultlab("replay", run.run_id, "--in", "r", "--out", "again", cwd=tmp_path).code == 1
    none = faultlab("run", ".", "--env", "sim", "--case", "two[Producer.Retry.Max=2]", cwd=tmp_path)
    assert none.code == 5
    assert "there is no case two[Producer.Retry.Max=2]\n  did you mean two[Producer.Retry.Max=" in none.err


def test_given_settings_are_part_of_the_run_and_of_its_replay(tmp_path: Path) -> None:
    write_scenario(tmp_path, formula="Net.ReadTimeout", claim="Net.DialTimeout")
    words = ("run", ".", "--env", "sim", "--set", "Net.ReadTimeout=4s", "--set", "Net.WriteTimeout=9s", "--out", "r")
    assert faultlab(*words, cwd=tmp_path).code == 0
    (run,) = read(tmp_path / "r").runs
    assert {s.name: s.seconds for s in run.settings if s.name.startswith("Net.W")} == {"Net.WriteTimeout": 9.0}
    assert next(e.predicted for e in run.expectations if e.kind == "equals") == 4.0
    assert faultlab("replay", run.run_id, "--in", "r", "--out", "again", cwd=tmp_path).code == 0
    assert read(tmp_path / "again").runs[0].run_id == run.run_id
    wrong = faultlab("run", ".", "--env", "sim", "--set", "Net.ReadTimeout", cwd=tmp_path)
    assert (wrong.code, wrong.err.splitlines()[0]) == (4, "error: --set Net.ReadTimeout sets nothing")


def test_the_stream_tells_each_case_then_the_suite(tmp_path: Path) -> None:
    write_scenario(tmp_path, "good", repeat=3)
    write_scenario(tmp_path, "wrong", formula="2*Net.ReadTimeout", repeat=2)
    (tmp_path / "mine").write_text("#!/bin/sh\n")
    (tmp_path / "mine").chmod(0o755)
    program = write_scenario(tmp_path, "program")
    program.write_text(
        program.read_text().replace("profile: sarama, version: 1.27.2", "driver: {exec: [./mine]}, name: m")
    )
    done = faultlab("run", ".", "--env", "sim", "--stream", "--out", "r", cwd=tmp_path)
    assert done.code == 1
    told = lines(done)
    assert [next(key for key in line if key != "format") for line in told] == [
        "impossible",
        "begun",
        "case",
        "case",
        "suite",
    ]
    assert told[0]["impossible"]["ids"] == ["program[Producer.Retry.Max=0]"]
    assert told[0]["impossible"]["text"].startswith("program.scenario.yaml:5:")
    assert told[1]["begun"] == {"environment": "sim", "note": None, "runs": 5}
    cases = {line["case"]["id"]: line["case"] for line in told[2:4]}
    good, wrong = cases["good[Producer.Retry.Max=0]"], cases["wrong[Producer.Retry.Max=0]"]
    assert (good["verdict"], good["passed"], len(good["runs"]), good["text"]) == ("pass", 3, 3, "")
    assert wrong["summary"] == "probe.time_to_error: measured 2.000 s, expected 4.000 s ± 0.090"
    assert wrong["text"] in done.err, "a program shows what a person is shown"
    (row,) = wrong["where"]["rows"]
    assert (row["setting"], row["predicted_count"], row["measured_count"]) == ("Net.ReadTimeout", 2.0, 1)
    suite = told[-1]["suite"]
    assert {case["id"]: case["verdict"] for case in suite["cases"]} == {id_: c["verdict"] for id_, c in cases.items()}
    assert suite["exit_code"] == 1


def test_a_suite_of_which_nothing_can_be_run_here_tested_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("#!/bin/sh\n")
    (tmp_path / "mine").chmod(0o755)
    program = write_scenario(tmp_path, "program")
    program.write_text(
        program.read_text().replace("profile: sarama, version: 1.27.2", "driver: {exec: [./mine]}, name: m")
    )
    done = faultlab("run", ".", "--env", "sim", "--stream", "--out", "r", cwd=tmp_path)
    assert done.code == 2
    (only,) = lines(done)
    assert only["impossible"]["path"] == "program.scenario.yaml"
    assert not (tmp_path / "r").exists()


def test_statistics_are_part_of_a_case(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, "many", repeat=30)
    path.write_text(
        path.read_text().replace(
            "expect:\n", "expect:\n  - {mean: probe.time_to_error, equals: 1s, within: 50ms, between: [0s, 3s]}\n"
        )
    )
    done = faultlab("run", ".", "--env", "sim", "--stream", "--out", "r", cwd=tmp_path)
    case = next(line["case"] for line in lines(done) if "case" in line)
    assert case["verdict"] == "fail"
    assert "over runs" in case["text"]
    assert case["passed"] == 30, "no run fails it: all together do"
