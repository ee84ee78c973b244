"""Protects the small commands: what they print for people and for programs, and that a bug is told as a bug."""

import json
from pathlib import Path

import pytest
from command_line import faultlab, write_scenario

from cli.commands import list as list_module
from cli.exit_codes import ExitCode
from cli.main import Commands, main
from cli.main import faultlab as group

EXEC = """\
format: 1
scenario: mine
about: A program of my own.
client: {driver: {exec: [./mine]}, name: mine}
cluster: {brokers: 1, topics: [{name: orders}]}
steps:
  - {do: connect}
  - {inject: latency, brokers: all, delay: 100ms, as: slow}
  - {do: send, as: probe}
expect:
  - {measure: probe.time_to_ack, at_least: slow.delay}
"""


def test_every_command_has_its_help_within_80_columns(tmp_path: Path) -> None:
    assert isinstance(group, Commands)
    for name in ("run", "list", "validate", "report", "doctor", "schema", "replay"):
        done = faultlab(name, "--help", cwd=tmp_path)
        assert done.code == 0
        assert done.out.startswith(f"Usage: faultlab {name} ")
        assert done.widest() <= 80
    top = faultlab("--help", cwd=tmp_path)
    assert "Exit codes: 0 passed, 1 an expectation failed, 2 inconclusive, 3 the lab" in top.out
    assert "  replay    Run one run again, with the same seed." in top.out
    assert faultlab("--version", cwd=tmp_path).out.startswith("faultlab, version ")


def test_list_begins_with_what_people_come_for(tmp_path: Path) -> None:
    told = json.loads(faultlab("list", "--json", cwd=tmp_path).out)["scenarios"]
    first = told[0]["scenario"]
    assert "blackhole" in first
    assert "slow" not in told[0]["tags"]
    tags = [set(scenario["tags"]) for scenario in told]
    later = next(i for i, these in enumerate(tags) if {"latency", "breaker"} & these)
    assert any("slow-dial" in these for these in tags[:later])
    assert any("scale-down" in scenario["scenario"] for scenario in told[:later])


def test_list_names_scenarios_with_runs_times_and_tags(tmp_path: Path) -> None:
    write_scenario(tmp_path, "one", repeat=3, tags="sarama, slow")
    write_scenario(tmp_path, "two", retries="[0, 1]", formula="2*Net.ReadTimeout")
    done = faultlab("list", ".", cwd=tmp_path)
    assert done.code == 0
    assert done.lines[0].split() == ["one", "sarama", "1.27.2", "3", "runs", "2.000", "s"]
    assert any(line.endswith("[sarama, slow]") for line in done.lines)
    assert done.lines[-1] == "2 scenarios, 5 runs; times are by formula"
    assert done.widest() <= 80
    told = json.loads(faultlab("list", ".", "--json", "--tag", "slow", cwd=tmp_path).out)
    assert [(s["scenario"], s["runs"], s["longest_s"]) for s in told["scenarios"]] == [("one", 3, 2.0)]
    assert faultlab("list", ".", "--only", "three", cwd=tmp_path).code == 5


def test_validate_says_which_environment_cannot_do_it_and_run_refuses_that_one(tmp_path: Path) -> None:
    (tmp_path / "mine.scenario.yaml").write_text(EXEC)
    (tmp_path / "mine").write_text("#!/bin/sh\n")
    (tmp_path / "mine").chmod(0o755)
    done = faultlab("validate", ".", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "line 4: sim cannot start a program: it runs on virtual time" in done.out.replace("\n    ", " ")
    assert "local cannot" not in done.out
    (tmp_path / "other.scenario.yaml").write_text(EXEC.replace("scenario: ", "scenario: other-", 1))
    both = faultlab("validate", ".", cwd=tmp_path)
    assert both.code == 0, both.err
    assert both.out.count("cannot start a program") == 1, "what holds for several is said once"
    (tmp_path / "other.scenario.yaml").unlink()
    refused = faultlab("run", ".", "--env", "sim", cwd=tmp_path)
    assert refused.code == 4
    assert refused.err.startswith(
        "mine.scenario.yaml:4:1: error[refused-by-environment]: sim cannot start a program: it runs on virtual time"
    )
    assert not (tmp_path / "results").exists()


def test_schemas_are_json_schemas(tmp_path: Path) -> None:
    for what in ((), ("run",), ("event",), ("manifest",)):
        told = json.loads(faultlab("schema", *what, cwd=tmp_path).out)
        assert told["type"] == "object"
        assert told["properties"]


@pytest.mark.ci
@pytest.mark.cell
def test_doctor_tells_programs_the_same_as_people(tmp_path: Path) -> None:
    told = json.loads(faultlab("doctor", "--json", cwd=tmp_path).out)
    people = faultlab("doctor", cwd=tmp_path)
    assert people.code == (0 if told["local"] else 3)
    assert people.widest() <= 80
    for finding in told["findings"]:
        assert f"{finding['state']:<8} {finding['name']:<13} " in people.out
        assert (finding["state"] == "missing") <= (finding["remedy"] is not None), "what is missing has a remedy"


@pytest.mark.ci
@pytest.mark.cell
def test_doctor_says_what_ci_will_have(tmp_path: Path) -> None:
    def told(**env: str) -> list[str]:
        found = json.loads(faultlab("doctor", "--json", cwd=tmp_path, env=env).out)["findings"]
        return [f"{one['state']}: {one['text']}" for one in found if one["name"] == "ci"]

    assert told() == []
    assert told(GITLAB_CI="true")[0].startswith("ok: GitLab CI: sections that fold, ")
    summary = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    assert told(**summary) == [
        "ok: GitHub Actions: groups, annotations, a summary of the job, JUnit XML beside results"
    ]
    lost = {**summary, "GITHUB_STEP_SUMMARY": str(tmp_path / "no" / "summary.md")}
    assert told(**lost)[0].startswith("note: GitHub Actions: GITHUB_STEP_SUMMARY names ")
    assert not (tmp_path / "summary.md").exists(), "it only looks"


def test_a_bug_is_told_in_two_lines_with_a_file_of_details(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError("by hand")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(list_module.command, "callback", broken)
    assert main(["list"]) == ExitCode.LAB_ERROR
    said = capsys.readouterr().err
    (details,) = tmp_path.iterdir()
    assert said == (
        "error: this is a bug in faultlab: ZeroDivisionError: by hand\n"
        f"  the details are in {details}; please report it\n"
    )
    assert "Traceback" in details.read_text()
