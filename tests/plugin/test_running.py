"""Protects what a scenario's test says: passed only with proof, failed with where the time went, errors told apart."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from project import PYTEST, WRONG, Project, processes_about, runs_in, scenario, untouched

pytestmark = pytest.mark.ci

PROGRAM = "{driver: {exec: [./mine]}, name: mine}"


def test_a_pass_a_failure_and_what_tested_nothing(project: Project) -> None:
    """One child for all: one results folder. JUnit tells failures from errors, and has the figures as properties."""
    project.write("good.scenario.yaml", scenario("good"))
    project.write("wrong.scenario.yaml", scenario("wrong", bound=WRONG))
    project.write("nothing.scenario.yaml", untouched("nothing"))
    project.write("test_own.py", "def test_own(): pass\n")
    done = project.pytest("--faultlab-out=kept")
    assert done.code == 1, done.out
    assert done.outcomes == {"good": "passed", "wrong": "failure", "nothing": "error", "test_own": "passed"}
    good, wrong, nothing = (done.cases[name] for name in ("good", "wrong", "nothing"))
    assert (good.properties["predicted"], good.properties["measured"]) == ("2.000 s ± 0.070", "2.000 s")
    assert (good.properties["verdict"], good.properties["environment"]) == ("pass", "sim")
    assert (wrong.properties["predicted"], wrong.properties["measured"]) == ("4.000 s ± 0.090", "2.000 s")
    assert wrong.properties["probe.time_to_error"] == "2 s"
    assert wrong.text.startswith("probe.time_to_error: measured 2.000 s, expected 4.000 s ± 0.090")
    for told in (
        "  Net.ReadTimeout  2 x 2.000  4.000    1 x   2.000    -2.000  1 missing\n",
        "  never waited on  Net.DialTimeout\n",
        f"  replay     {wrong.properties['replay']}",
    ):
        assert told in wrong.text, "where the time went, and the replay command"
        assert told in done.out, "as on the terminal"
    assert "inconclusive: fault `outage` dropped 0 packets: nothing was tested" in nothing.text
    assert "FAILED wrong.scenario.yaml::wrong - probe.time_to_error: measured 2.000 s, expected 4.000 s" in done.out
    assert "ERROR nothing.scenario.yaml::nothing - inconclusive: fault `outage` dropped 0 packets" in done.out
    assert "pytest_faultlab.py" not in done.out, "no traceback of the plugin"
    assert runs_in(project.path / "kept") == {"pytest-1": ["good", "nothing", "wrong"]}
    assert "faultlab report " in done.out
    assert processes_about(project.path) == []
    replay = wrong.properties["replay"].split()
    again = subprocess.run([Path(PYTEST).with_name(replay[0]), *replay[1:], "--json"], cwd=project.path, check=False,
                           capture_output=True, text=True, env=project.environment(), timeout=60)  # fmt: skip
    assert again.returncode == 1, again.stderr
    assert json.loads(again.stdout)["cases"][0]["summary"] == wrong.text.splitlines()[0]


def test_what_tested_nothing_can_be_skipped_but_never_passes(project: Project) -> None:
    project.write("nothing.scenario.yaml", untouched("nothing"))
    project.write("pytest.ini", "[pytest]\nfaultlab_inconclusive = skip\nfaultlab_env = sim\n")
    done = project.pytest(env=None)
    assert done.outcomes == {"nothing": "skipped"}, done.out
    assert "inconclusive: " in done.cases["nothing"].text


def test_what_a_world_cannot_run_is_an_error_beside_what_it_can(project: Project) -> None:
    project.write("good.scenario.yaml", scenario("good"))
    project.write("mine", "#!/bin/sh\n").chmod(0o755)
    project.write("program.scenario.yaml", scenario("program", client=PROGRAM))
    done = project.pytest()
    assert done.outcomes == {"good": "passed", "program": "error"}, done.out
    assert "it cannot be run here" in done.cases["program"].text
    assert "program.scenario.yaml:5:" in done.cases["program"].text


def test_a_lab_that_cannot_begin_is_an_error_of_the_lab_for_every_case(project: Project) -> None:
    project.write("one.scenario.yaml", scenario("one"))
    project.write("two.scenario.yaml", scenario("two"))
    done = project.pytest(env="local", TOXIPROXY_SERVER="/nowhere/toxiproxy-server")
    assert done.code == 1
    assert done.outcomes == {"one": "error", "two": "error"}, done.out
    assert "/nowhere/toxiproxy-server" in done.cases["one"].text
    assert done.cases["one"].text == done.cases["two"].text
    instead = project.pytest("one.scenario.yaml", env="auto", TOXIPROXY_SERVER="/nowhere/toxiproxy-server")
    assert instead.outcomes == {"one": "passed"}, instead.out
    assert instead.cases["one"].properties["environment"] == "sim"
    assert "sim instead of local: " in instead.out, "not in silence"
    unwritable = project.pytest("--faultlab-out=/proc/nowhere", "one.scenario.yaml")
    assert "cannot make /proc/nowhere: " in unwritable.cases["one"].text
    assert "Traceback" not in unwritable.out


def test_only_what_pytest_chooses_is_run(project: Project) -> None:
    """-k, a skip mark of somebody's conftest, then --lf: each session has a folder with just its runs."""
    project.write("good.scenario.yaml", scenario("good"))
    project.write("wrong.scenario.yaml", scenario("wrong", bound=WRONG, matrix="{settings.Producer.Retry.Max: [0, 1]}"))
    project.write("other.scenario.yaml", scenario("other"))
    project.write(
        "conftest.py",
        "import pytest\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n"
        "        if item.name == 'good':\n            item.add_marker(pytest.mark.skip(reason='not today'))\n",
    )
    passing = project.pytest("-k", "other")
    assert (passing.code, passing.outcomes) == (0, {"other": "passed"}), passing.out
    first = project.pytest("--faultlab-out=kept", "-k", "not other")
    assert first.outcomes == {
        "good": "skipped", "wrong[Producer.Retry.Max=0]": "failure", "wrong[Producer.Retry.Max=1]": "failure",
    }, first.out  # fmt: skip
    project.write("wrong.scenario.yaml", scenario("wrong", matrix="{settings.Producer.Retry.Max: [0, 1]}"))
    second = project.pytest("--faultlab-out=kept", "--lf")
    assert second.outcomes == {"wrong[Producer.Retry.Max=0]": "passed", "wrong[Producer.Retry.Max=1]": "failure"}
    third = project.pytest("--faultlab-out=kept", "--lf")
    assert list(third.outcomes) == ["wrong[Producer.Retry.Max=1]"], third.out
    assert runs_in(project.path / "kept") == {
        "pytest-1": ["wrong"] * 2,
        "pytest-2": ["wrong"] * 2,
        "pytest-3": ["wrong"],
    }


def test_a_case_that_is_asked_for_again_is_run_again(project: Project) -> None:
    """As plugins do that run failed tests anew: once with all others, then by itself."""
    project.write("good.scenario.yaml", scenario("good"))
    project.write("wrong.scenario.yaml", scenario("wrong", bound=WRONG))
    project.write(
        "conftest.py",
        "from _pytest.runner import runtestprotocol\n\ndef pytest_runtest_protocol(item, nextitem):\n"
        "    runtestprotocol(item, nextitem=nextitem)\n    runtestprotocol(item, nextitem=nextitem)\n    return True\n",
    )
    done = project.pytest("--faultlab-out=kept", "-q")
    assert "2 failed, 2 passed" in done.out, done.out
    assert runs_in(project.path / "kept") == {
        "pytest-1": ["good", "wrong"],
        "pytest-2": ["good"],
        "pytest-3": ["wrong"],
    }


def test_options_of_command_line_and_configuration(project: Project) -> None:
    project.write("good.scenario.yaml", scenario("good"))
    project.write(
        "pytest.ini", "[pytest]\nfaultlab_env = sim\nfaultlab_repeat = 3\nfaultlab_seed = 5\nfaultlab_out = kept\n"
    )
    assert project.pytest(env=None).code == 0
    assert project.pytest("--faultlab-repeat=2", "--faultlab-seed=6", env=None).code == 0
    manifests = [json.loads(path.read_text()) for path in sorted((project.path / "kept").glob("*/manifest.json"))]
    assert [(len(m["run_ids"]), m["seed"], m["environment"]) for m in manifests] == [(3, 5, "sim"), (2, 6, "sim")]
    spaced = project.pytest("--faultlab-out=my results", env=None).out
    assert f"report  faultlab report '{project.path}/my results/pytest-1'" in spaced, "it can be given as it stands"
    for wrong, told in (
        ("--faultlab-env=moon", "faultlab_env is auto or sim or local, not moon"),
        ("--faultlab-repeat=0", "faultlab_repeat is a whole number from 1, not 0"),
        ("--faultlab-seed=x", "faultlab_seed is a whole number from 0, not x"),
        ("--faultlab-inconclusive=pass", "faultlab_inconclusive is fail or skip, not pass"),
    ):
        done = project.pytest(wrong, env=None)
        assert done.code == 4
        assert told in done.out


def test_nothing_stays_open_where_warnings_are_errors(project: Project) -> None:
    """Many projects run with `-W error`: a file that is not closed would fail whichever of their tests comes next."""
    project.write("good.scenario.yaml", scenario("good"))
    project.write("wrong.scenario.yaml", scenario("wrong", bound=WRONG))
    project.write("mistaken.scenario.yaml", scenario("mistaken", bound="equals: nothing"))
    project.write(
        "test_own.py",
        "import gc\n\nimport pytest\nfrom pytest_faultlab import ScenarioMistakes\n\n"
        "def test_runs(lab):\n    assert lab.run('good.scenario.yaml').verdict == 'pass'\n\n"
        "def test_mistake(lab):\n    with pytest.raises(ScenarioMistakes):\n"
        "        lab.run('mistaken.scenario.yaml')\n\n"
        "def test_last():\n    gc.collect()\n",
    )
    done = project.pytest("-W", "error", "--continue-on-collection-errors")
    assert "ResourceWarning" not in done.out, done.out
    assert {name: done.outcomes[name] for name in ("good", "wrong", "test_runs", "test_mistake", "test_last")} == {
        "good": "passed", "wrong": "failure", "test_runs": "passed", "test_mistake": "passed", "test_last": "passed",
    }, done.out  # fmt: skip


@pytest.mark.cell
def test_a_full_disk_is_said_in_every_case(project: Project, tmp_path: Path) -> None:
    """Pytest's temporary files and the results lie on it; why nothing can be written is told all the same."""
    project.write("good.scenario.yaml", scenario("good"))
    full = tmp_path / "full"
    full.mkdir()
    fill = 'mount -t tmpfs -o size=64k none "$0" && head -c 60000 /dev/zero > "$0/fill" && exec "$@"'
    cell = [shutil.which("unshare") or pytest.skip("needs unshare"), "--user", "--map-root-user", "--mount"]
    done = subprocess.run(
        [*cell, "sh", "-c", fill, full, PYTEST, "--faultlab-env=sim", f"--basetemp={full}/b", "-p", "no:cacheprovider"],
        cwd=project.path, env=project.environment(TMPDIR=str(full)), capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "No space left on device" in done.stdout
    assert "Traceback" not in done.stdout
