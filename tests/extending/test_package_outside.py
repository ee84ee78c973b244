"""A package outside of the project adds one thing of every kind, and a scenario runs that uses them all."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # helpers, under import-mode=importlib
from installed import Installation

pytestmark = pytest.mark.ci

SCENARIO = "slow-listing.scenario.yaml"


def the_run(results: Path) -> dict[str, Any]:
    (line,) = (results / "runs.jsonl").read_text().splitlines()
    run: dict[str, Any] = json.loads(line)
    return run


def check(run: dict[str, Any]) -> None:
    """The fault met the client's request, and the measure saw what the API answered."""
    assert (run["verdict"], run["client"]) == ("pass", "lister"), run["reasons"]
    (fault,) = run["faults"]
    assert (fault["fault"], fault["proof"]) == ("slow_listing", "listings_held")
    assert fault["finding"] == "held back 1 listing"
    listing = next(one for one in run["operations"] if one["alias"] == "listing")
    assert [(field["name"], field["number"]) for field in listing["result"]] == [("groups", 2.0)]
    measured = {one["name"]: one["value"] for one in run["measures"]}
    assert measured["listing.groups"] == 2
    assert measured["listing.time_to_end"] == pytest.approx(2.0, rel=0.1)


def test_the_environment_runs_the_client_under_the_fault(example: Installation) -> None:
    done = example.faultlab("run", SCENARIO, "--env", "orbit", "--out", "results")
    assert done.returncode == 0, done.stdout + done.stderr
    run = the_run(example.project / "results")
    assert run["environment"] == "orbit"
    check(run)


def test_the_bundled_simulation_pulls_the_lever_as_well(example: Installation) -> None:
    done = example.faultlab("run", SCENARIO, "--env", "sim", "--out", "results")
    assert done.returncode == 0, done.stdout + done.stderr
    check(the_run(example.project / "results"))


@pytest.mark.cell
def test_real_cells_have_the_client_the_broker_s_api_and_the_lever(example: Installation) -> None:
    done = example.faultlab("run", SCENARIO, "--env", "local", "--out", "results")
    assert done.returncode == 0, done.stdout + done.stderr
    check(the_run(example.project / "results"))


def test_the_scenario_is_listed_and_found_right(example: Installation) -> None:
    listed = example.faultlab("list", SCENARIO)
    assert "lister 1.0" in listed.stdout, listed.stderr
    assert "2.000 s" in listed.stdout
    checked = example.faultlab("validate", SCENARIO)
    assert (checked.returncode, "1 scenario ok" in checked.stdout) == (0, True), checked.stdout + checked.stderr


def test_editors_are_offered_what_the_package_adds(example: Installation) -> None:
    schema = json.loads(example.faultlab("schema").stdout)
    text = json.dumps(schema)
    for name in ("slow_listing", "list_groups", "lister", "groups"):
        assert f'"{name}"' in text or f"{name}:" in text, name


def test_pytest_runs_the_scenario(example: Installation) -> None:
    """In the environment that the package adds; a name that no package has is refused."""
    done = example.python("-m", "pytest", "-q", SCENARIO, "--faultlab-env", "orbit", "--faultlab-out", "kept")
    assert done.returncode == 0, done.stdout + done.stderr
    assert the_run(example.project / "kept" / "pytest-1")["environment"] == "orbit"
    wrong = example.python("-m", "pytest", "-q", SCENARIO, "--faultlab-env", "moon")
    assert wrong.returncode != 0
    assert "'moon' is not one of 'auto', 'sim', 'local', 'orbit'" in wrong.stdout


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_the_report_has_the_table(example: Installation) -> None:
    assert example.faultlab("run", SCENARIO, "--env", "orbit", "--out", "results").returncode == 0
    done = example.faultlab("report", "results")
    assert done.returncode == 0, done.stdout + done.stderr
    with (example.project / "results" / "report" / "listings.csv").open(newline="") as table:
        assert list(csv.DictReader(table)) == [{"scenario": "slow-listing", "listings": "1"}]


def test_without_the_package_its_words_are_unknown(installation: Installation) -> None:
    checked = installation.faultlab("validate", SCENARIO)
    assert checked.returncode != 0
    for code in ("unknown-fault", "unknown-operation", "unknown-measure"):
        assert code in checked.stdout + checked.stderr


@pytest.mark.parametrize(
    ("kind", "code", "problem"),
    [
        ("fault", "", "fault is none of apis, brokers, drivers, environments, faults,"),
        ("faults", "1 / 0", "ZeroDivisionError: division by zero"),
        ("faults", "import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        (
            "faults",
            "from harness.faults.base import FaultModel, fault\n@fault('latency')\nclass Mine(FaultModel): ...",
            "ValueError: two faults are called latency",
        ),
    ],
)
def test_a_package_that_cannot_be_used_is_named(
    installation: Installation, tmp_path: Path, kind: str, code: str, problem: str
) -> None:
    (tmp_path / "broken.py").write_text(code)
    installation.install("broken-package", {kind: "broken"}, tmp_path / "broken.py")
    done = installation.faultlab("validate", SCENARIO)
    assert done.returncode == 4, done.stdout + done.stderr
    assert f"broken-package: the entry point {kind} = broken of faultlab.extensions fails: {problem}" in done.stderr
    assert "correct broken-package, or uninstall it" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_needs_no_package(installation: Installation, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0")
    installation.install("broken-package", {"faults": "broken"}, tmp_path / "broken.py")
    assert installation.faultlab("--help").returncode == 0
