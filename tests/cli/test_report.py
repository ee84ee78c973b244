"""Protects the way from records to the page: made on demand or with the run, and a clear word where it cannot be."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import COMMAND, environment, faultlab, write_scenario

from cli.main import main


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_scenario(tmp_path, repeat=2)
    assert faultlab("run", ".", "--env", "sim", "--out", "r", cwd=tmp_path).code == 0
    return tmp_path / "r"


@pytest.mark.ci
@pytest.mark.usefixtures("spark")
def test_a_report_names_its_page_and_what_was_set_aside(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the Spark that is there: tests/extending has the command start its own."""
    with (results / "runs.jsonl").open("a") as handle:
        handle.write("no record\n")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.setenv(name, "")
    monkeypatch.chdir(results.parent)
    code = main(["report", "r", "--json", "--open"])
    done = capsys.readouterr()
    assert code == 0, done.err
    assert "not opened: " in done.err
    told = json.loads(done.out)
    assert (told["runs"], told["quarantined"]) == (2, 1)
    assert (results.parent / told["page"]).stat().st_size > 10_000
    assert b'tests="2"' in (results.parent / told["junit"]).read_bytes()
    assert "1 line set aside" in done.err


def test_an_empty_folder_is_nothing_to_report(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = faultlab("report", "empty", cwd=tmp_path)
    assert done.code == 5
    assert done.err.startswith("error: empty has no runs.jsonl\n  name a folder that `faultlab run`")


def test_a_report_that_cannot_lie_where_it_was_sent_says_what_to_name(results: Path) -> None:
    done = faultlab("report", "r", "--out", "r/runs.jsonl", cwd=results.parent)
    assert done.code == 3
    wrong, remedy = done.err.strip().splitlines()[-2:]
    assert wrong.startswith("error: cannot write the report: r/runs.jsonl/")
    assert remedy == "  name a folder that can be written with --out"


@pytest.mark.spark
@pytest.mark.slow
def test_several_folders_make_one_report_and_can_be_kept(results: Path) -> None:
    shutil.copytree(results, results.parent / "r2")
    done = faultlab("report", "r*", "--out", "both", "--archive", "kept", "--json", cwd=results.parent)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    once = (
        "2 runs (2 of r) are in a later folder too: the same scenario, settings and seed make the same run, which"
        " counts once, as the last folder has it; another --seed makes another run"
    )
    assert (told["runs"], told["remarks"]) == (2, [once])
    assert "note    2 runs (2 of r) are in a later folder too" in done.err
    assert once in (results.parent / told["page"]).read_text(), "who is only shown the page is told, too"
    with (results.parent / told["csv"]["timeouts"]).open(newline="") as file:
        assert {row["scenario"] for row in csv.DictReader(file)}
    again = faultlab("report", "kept", "--json", cwd=results.parent)
    assert again.code == 0, again.err
    assert json.loads(again.out)["runs"] == 2


@pytest.mark.spark
@pytest.mark.slow
def test_a_run_makes_its_report_when_asked(tmp_path: Path) -> None:
    write_scenario(tmp_path, formula="Net.DialTimeout")
    done = faultlab("run", ".", "--env", "sim", "--out", "r", "--report", cwd=tmp_path)
    assert done.code == 1
    assert done.lines[-1].startswith("report  r/report.html ")
    assert (tmp_path / "r" / "report.html").exists()


def test_without_the_extra_the_suite_keeps_its_verdict_and_the_report_says_how_to_get_it(results: Path) -> None:
    """A sitecustomize hides pyspark, as on a machine where the extra was not installed."""
    hiding = results.parent / "hiding"
    hiding.mkdir()
    (hiding / "sitecustomize.py").write_text(
        "import importlib.util as u\n"
        "found = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'pyspark' else found(name, package)\n"
    )
    env = {"PYTHONPATH": f"{hiding}:{Path(__file__).parents[2]}"}
    done = faultlab("report", "r", cwd=results.parent, env=env)
    assert done.code == 3
    assert done.err == (
        "error: reports need pyspark, which is not installed\n"
        f"  install the extra: {sys.executable} -m pip install 'faultlab[report]'\n"
    )
    run = faultlab("run", ".", "--env", "sim", "--out", "s", "--report", cwd=results.parent, env=env)
    assert run.code == 3
    assert "error: reports need pyspark" in run.err
    assert run.lines[-3].startswith("PASSED  2 passed of 2 runs")
    assert run.lines[-1].endswith("exit 3")
    doctor = faultlab("doctor", cwd=results.parent, env=env)
    assert "note     report        reports cannot be made: pyspark not installed" in doctor.out


def test_what_is_done_that_cannot_be_said_is_not_blamed_on_the_report(results: Path) -> None:
    """Whoever read has gone (`| head -1`), or the log's disk is full: Spark has not failed, nor the report's folder."""
    command = [*COMMAND, "report", "r", "--out", "there"]
    with Path("/dev/full").open("w") as full:
        lost = subprocess.run(
            command, cwd=results.parent, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert lost.returncode == 3
    assert lost.stderr.startswith("error: what there is to say cannot be written: No space left on device\n")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        gone = subprocess.run(
            command, cwd=results.parent, env=environment(), stdout=nobody, stderr=subprocess.PIPE, check=False
        )
    assert (gone.returncode, gone.stderr) == (141, b"")
