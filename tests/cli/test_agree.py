"""Protects `faultlab agree`: it runs both sides, looks again where runs were too few, and calls nothing agreement that
was not compared."""

import json
from pathlib import Path

import pytest
from command_line import faultlab, write_scenario

from cli.agree.matrix import MatrixRequest, measure
from cli.suite.request import Request
from cli.terminal.console import console
from harness.records.reader import read
from harness.records.writer import Writer
from harness.suite.planning import Selection


def short(folder: Path) -> Path:
    """A send of half a second into the dark: no retry."""
    path = write_scenario(folder, "dark", repeat=1, retries=[0])
    path.write_text(path.read_text().replace("Net.ReadTimeout: 2s", "Net.ReadTimeout: 500ms"))
    return path


def test_runs_that_the_lab_ended_are_made_again(tmp_path: Path) -> None:
    path = short(tmp_path)
    assert faultlab("run", ".", "--env", "sim", "--repeat", "3", "--seed", "7", "--out", "r", cwd=tmp_path).code == 0
    made = read(tmp_path / "r")
    with Writer.create(tmp_path / "earlier", made.manifest) as writer:
        for number, run in enumerate(made.runs):
            writer.write(run.model_copy(update={"verdict": "lab_error"}) if number == 1 else run, ())
    request = Request(
        paths=(str(path),), environment="sim", seed=7, repeat=3, client="profile", settings={}, selection=Selection(),
        folder=tmp_path,
    )  # fmt: skip
    asked = MatrixRequest(request=request, sides=("sim",), out=tmp_path / "later", most=3, cells=1, looks=1)
    measure(console(), asked, earlier=[tmp_path / "earlier"])
    assert [run.run_id for run in read(tmp_path / "later" / "sim").runs] == [made.runs[1].run_id]


@pytest.mark.ci
@pytest.mark.cell
def test_profile_and_simulation_agree_after_a_second_look(tmp_path: Path) -> None:
    short(tmp_path)
    done = faultlab(
        "agree", ".", "--between", "sim,profile", "--repeat", "3", "--most", "20", "--out", "r", "--write", "F.md",
        "--cells", "8", cwd=tmp_path, env={"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert done.code == 0, done.out + done.err
    assert done.lines[-3].startswith("AGREES  3 of 3 rows in 1 case; ")
    rows = [json.loads(line) for line in (tmp_path / "r" / "local" / "agreement.jsonl").read_text().splitlines()]
    assert [(row["measure"], row["outcome"]) for row in rows] == [
        ("probe.time_to_error", "agrees"),
        ("probe.outcome", "agrees"),
        ("probe.dials", "agrees"),
    ]
    assert all(side["runs"] > 3 for row in rows for side in row["sides"])
    assert "| dark | 1.27.2 | Retry.Max=0 | probe.time_to_error | 0.500 | not run |" in (tmp_path / "F.md").read_text()
    again = faultlab("agree", "--between", "sim,profile", "--of", "r/local", "--of", "r/sim", cwd=tmp_path)
    assert again.code == 2, "three runs a side are too few by themselves"
    assert "NOT ENOUGH RUNS" in again.out
    sides = ("--between", "sim,profile", "--of", "r/local", "--of", "r/sim")
    lost = faultlab("agree", *sides, "--write", "nowhere/F.md", cwd=tmp_path)
    assert lost.code == 3, "the command is right, what was compared is told; 4 would say that nothing was started"
    assert "UNSURE" in lost.out
    assert lost.err.startswith("error: cannot write nowhere/F.md: No such file or directory\n  name a file in a folder")
    alone = faultlab("agree", "--of", "r/local", cwd=tmp_path)
    assert alone.code == 5
    assert "nothing was compared" in alone.err


@pytest.mark.parametrize(
    ("between", "told"),
    [("profile,reel", "there is no side reel"), ("profile", "agreement takes two sides"), ("", "agreement takes two")],
)
def test_sides_that_are_none(tmp_path: Path, between: str, told: str) -> None:
    short(tmp_path)
    done = faultlab("agree", ".", "--between", between, cwd=tmp_path)
    assert done.code == 4
    assert told in done.err
    assert not (tmp_path / "results").exists()


def test_a_folder_without_results_is_said(tmp_path: Path) -> None:
    done = faultlab("agree", "--of", ".", cwd=tmp_path)
    assert done.code == 4
    assert "is no results folder" in done.err


DIFFERENCES = """\
differences:
  - scenario: dark
    measure: probe.time_to_error
    side: sim
    because: the simulation has no such timer
    source: IBM/sarama v1.27.2 broker.go
"""


def slower_real_client(results: Path, out: Path, *, by_s: float) -> None:
    """The same runs as the real client's, each time to error so much longer."""
    found = read(results)
    real = [
        run.model_copy(
            update={
                "run_id": f"f{run.run_id}", "environment": "local", "driver": "real",
                "measures": tuple(
                    one.model_copy(update={"value": one.value + by_s})
                    if one.name == "probe.time_to_error" and one.value is not None
                    else one
                    for one in run.measures
                ),
            }
        )
        for run in found.runs
    ]  # fmt: skip
    manifest = found.manifest.model_copy(update={"run_ids": tuple(run.run_id for run in real)})
    with Writer.create(out, manifest) as writer:
        for run in real:
            writer.write(run, ())


def test_a_difference_that_is_explained_is_counted_apart(tmp_path: Path) -> None:
    short(tmp_path)
    assert faultlab("run", ".", "--env", "sim", "--repeat", "14", "--out", "sim", cwd=tmp_path).code == 0
    slower_real_client(tmp_path / "sim", tmp_path / "real", by_s=0.2)
    compared = ("agree", "--between", "real,sim", "--of", "real", "--of", "sim")
    different = faultlab(*compared, cwd=tmp_path)
    assert different.code == 1
    assert different.lines[-3].startswith("DIFFERS  2 of 3 rows in 1 case, 1 different; ")
    (tmp_path / "differences.yaml").write_text(DIFFERENCES)
    explained = faultlab(*compared, "--write", "F.md", cwd=tmp_path)
    assert explained.code == 0, explained.out + explained.err
    assert explained.lines[-3].startswith("EXPLAINED  2 of 3 rows in 1 case, 1 explained; ")
    assert "the simulation has no such timer (IBM/sarama v1.27.2 broker.go)" in " ".join(explained.out.split())
    assert "1 case, 3 rows: 1 explained, 2 agrees" in (tmp_path / "F.md").read_text()
