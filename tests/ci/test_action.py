"""Protects action.yml: its steps do what they say in a runner's environment, nothing that a user gives becomes part of
a script, and what it changes on the machine it puts back."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from runner import EXPRESSION, ROOT, Runner, load

from harness.toxiproxy.obtain import VERSION

pytestmark = pytest.mark.ci

ACTION = load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
HERE = f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/sbin:/bin"
"""With this checkout's own installation first, as the installing step leaves it."""

SCENARIO = """\
format: 1
scenario: {name}
about: A port goes dark.
client: {{profile: sarama, version: 1.27.2}}
settings: {{Net.ReadTimeout: 2s}}
cluster: {{brokers: 1, topics: [{{name: orders}}]}}
steps:
  - {{do: connect}}
  - {{do: send, as: warm_up, expect: acknowledged}}
  - {{inject: blackhole, brokers: all, as: outage}}
  - {{do: send, as: probe, give_up_after: 60s}}
expect:
  - {{measure: probe.time_to_error, equals: {formula}, within: 1% + 50ms}}
matrix: {{settings.Producer.Retry.Max: [0]}}
"""

Make = Callable[..., Runner]


@pytest.fixture
def runner(tmp_path: Path) -> Make:
    """`runner(env="sim")`: with these inputs, over a checkout with two scenarios of which one fails."""
    workspace, temporary = tmp_path / "work space", tmp_path / "temp"
    (workspace / "lab").mkdir(parents=True)
    temporary.mkdir()
    (workspace / "lab" / "good one.scenario.yaml").write_text(SCENARIO.format(name="good", formula="Net.ReadTimeout"))
    (workspace / "lab" / "bad.scenario.yaml").write_text(SCENARIO.format(name="bad", formula="Net.DialTimeout"))

    def make(**more: Any) -> Runner:
        mine = {name.replace("_", "-"): text for name, text in more.pop("inputs", {}).items()}
        return Runner(ACTION, workspace, temporary, inputs=mine, **{"path": HERE, **more})

    return make


def test_every_expression_names_something_and_none_is_in_a_script(runner: Make) -> None:
    made = runner()
    for step in ACTION["runs"]["steps"]:
        assert not EXPRESSION.search(step.get("run", ""))
        for text in (*step.get("env", {}).values(), *step.get("with", {}).values()):
            made.value(str(text))
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(ACTION["inputs"]), "every input is used, every one that is used is declared"
    assert all(described["description"] for described in ACTION["inputs"].values())


def test_other_people_s_actions_are_pinned_by_version() -> None:
    names = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    assert names
    for name in names:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+\.\d+\.\d+", name), name
    cached = STEPS["Toxiproxy from earlier jobs"]["with"]
    assert cached["path"].endswith(f"toxiproxy-server-{VERSION}")
    assert VERSION in cached["key"]


def test_scripts_have_no_known_mistake() -> None:
    shellcheck = shutil.which("shellcheck")
    for name, step in STEPS.items():
        if "run" in step:
            subprocess.run(["bash", "-n", "-c", step["run"]], check=True)
            if shellcheck:
                done = subprocess.run(
                    [shellcheck, "-s", "bash", "-"], input=step["run"], text=True, capture_output=True
                )
                assert done.returncode == 0, f"{name}: {done.stdout}"


def test_a_suite_is_run_and_leaves_its_results(runner: Make) -> None:
    made = runner(inputs={"env": "sim", "paths": "lab/good one.scenario.yaml\n", "repeat": "2"})
    made.run("Namespaces", "Run", "Hold against the baseline")
    assert made.ran["Namespaces"].code is None, "sim needs none"
    assert made.ran["Run"].code == 0, made.ran["Run"].out
    assert made.ran["Hold against the baseline"].code is None
    results = Path(made.outputs["run"]["results"])
    assert fromstring((results / "junit.xml").read_bytes()).get("tests") == "2"
    assert made.value(ACTION["outputs"]["junit"]["value"]) == str(results / "junit.xml")
    assert "### faultlab: PASSED" in (made.temporary / "github_step_summary").read_text()


def test_a_failing_suite_fails_the_job_and_is_held_against_the_baseline_all_the_same(runner: Make) -> None:
    first = runner(inputs={"env": "sim", "paths": "good one.scenario.yaml", "working_directory": "lab", "repeat": "20"})
    first.run("Run")
    assert first.ran["Run"].code == 0, first.ran["Run"].out
    inputs = {"env": "sim", "paths": "lab", "repeat": "20", "baseline": first.outputs["run"]["results"]}
    made = runner(inputs=inputs)
    made.run("Run", "Hold against the baseline", "Put AppArmor's restriction back")
    assert made.ran["Run"].code == 1
    assert "::error file=lab/bad.scenario.yaml,line=13,title=failed::" in made.ran["Run"].out
    held = made.ran["Hold against the baseline"]
    assert held.code is not None
    summary = (made.temporary / "github_step_summary").read_text()
    assert "### faultlab gate: UNCHANGED\n\n1 unchanged\n\n" in summary, held.out
    assert "compared 1 of 1 scenario, 20 + 20 runs, virtual time" in summary
    assert summary.index("### faultlab: FAILED") < summary.index("### faultlab gate")
    assert "compared " in held.out
    assert made.ran["Put AppArmor's restriction back"].code is None
    assert made.outputs["run"]["results"] != first.outputs["run"]["results"], "twice in one job"


@pytest.mark.parametrize("name", ["paths", "arguments", "env", "repeat", "client", "baseline"])
def test_what_a_user_gives_is_never_run(runner: Make, name: str) -> None:
    evil = "$(touch owned)`touch owned`'; touch owned; '\"; touch owned; \""
    made = runner(inputs={"env": "sim", "paths": "lab/good one.scenario.yaml", name: evil})
    made.run("Run", "Hold against the baseline")
    assert made.ran["Run"].code == (0 if name == "baseline" else 4), made.ran["Run"].out
    held = made.ran["Hold against the baseline"].code
    assert held == (4 if name == "baseline" else None), "there is nothing to hold where nothing was run"
    assert not list(made.workspace.rglob("owned"))


def test_where_nothing_was_run_the_gate_has_nothing_to_hold(runner: Make) -> None:
    made = runner(inputs={"env": "sim", "paths": "nowhere", "baseline": "faultlab-baseline.json"})
    made.run("Run", "Hold against the baseline")
    assert made.ran["Run"].code == 4
    assert "::error title=faultlab::" in made.ran["Run"].out
    assert made.ran["Hold against the baseline"].code == 0
    assert made.ran["Hold against the baseline"].out == ""


def test_more_arguments_are_one_a_line(runner: Make) -> None:
    made = runner(inputs={"env": "sim", "paths": "lab", "arguments": "--only\ngo*\n\n--seed=11\n"})
    made.run("Run")
    assert made.ran["Run"].code == 0, made.ran["Run"].out
    assert "1 scenario, 1 run, sim, 1 cell, seed 11" in made.ran["Run"].out


APPARMOR = """\
mount -t tmpfs none /proc/sys/kernel
echo 1 > /proc/sys/kernel/apparmor_restrict_unprivileged_userns
exec "$@"
"""
"""A machine of its own on which the restriction is set."""


@pytest.mark.cell
@pytest.mark.parametrize(("lift", "runners", "lifted"), [
    ("auto", "github-hosted", True), ("auto", "self-hosted", False), ("true", "self-hosted", True),
    ("false", "github-hosted", False),
])  # fmt: skip
def test_apparmor_s_restriction_is_lifted_where_it_may_be(
    runner: Make, tmp_path: Path, lift: str, runners: str, lifted: bool
) -> None:
    if shutil.which("unshare") is None or shutil.which("sysctl", path=HERE) is None:
        pytest.skip("needs unshare and sysctl")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sudo").write_text('#!/bin/sh\n[ "$1" = -n ] && shift\nexec "$@"\n')
    (tmp_path / "bin" / "sudo").chmod(0o755)
    made = runner(
        inputs={"lift_apparmor": lift}, environment=runners, path=f"{tmp_path / 'bin'}:{HERE}",
        before=("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", APPARMOR, "sh"),
    )  # fmt: skip
    made.run("Namespaces", "Put AppArmor's restriction back")
    assert made.ran["Namespaces"].code == 0, made.ran["Namespaces"].out
    assert made.ran["Namespaces"].out == ""
    assert (made.outputs["namespaces"].get("lifted") == "true") == lifted
    assert made.ran["Put AppArmor's restriction back"].code == (0 if lifted else None)


@pytest.mark.cell
def test_without_sudo_the_runner_is_told_and_the_suite_runs_simulated(runner: Make, tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "cat", "echo", "mktemp", "mount", "sh"):  # no sudo among them
        (tools / name).symlink_to(str(shutil.which(name)))
    deny = f"echo 0 > /proc/sys/user/max_user_namespaces\n{APPARMOR}"
    made = runner(
        inputs={"paths": "lab/good one.scenario.yaml"}, path=f"{Path(sys.executable).parent}:{tools}",
        before=(str(shutil.which("unshare")), "--user", "--map-root-user", "--mount", "/bin/sh", "-c", deny, "sh"),
    )  # fmt: skip
    made.run("Namespaces", "Run")
    assert made.ran["Namespaces"].code == 0
    assert "could not be lifted (no sudo)" in made.ran["Namespaces"].out
    assert made.ran["Run"].code == 0, made.ran["Run"].out
    assert "::warning title=sim-instead-of-local::" in made.ran["Run"].out


def test_modules_of_the_checkout_are_not_taken_for_those_that_install(runner: Make, tmp_path: Path) -> None:
    """Steps begin in the user's checkout, where Python would look for modules first."""
    nothing = tmp_path / "nothing to install"
    nothing.mkdir()
    (nothing / "constraints.txt").write_text("click==8.1.8 \\\n")
    made = runner(action_path=nothing)
    for name in ("logging.py", "pip.py"):
        (made.workspace / name).write_text("raise SystemExit('a module of the user')")
    made.run("Install faultlab")
    said = made.ran["Install faultlab"].out
    assert "a module of the user" not in said
    assert "Neither 'setup.py' nor 'pyproject.toml' found" in said, "it came as far as pip"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_whole_action_from_a_checkout(runner: Make, tmp_path: Path) -> None:
    """Everything for real, its own installation too; a package index has to be reachable."""
    copy = tmp_path / "action"
    left_out = shutil.ignore_patterns(
        ".venv", ".git", "results", "build", "*.egg-info", ".*_cache", "__pycache__", ".hypothesis"
    )
    shutil.copytree(ROOT, copy, ignore=left_out)
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "python").symlink_to(sys.executable)
    path = f"{tmp_path / 'python'}:{HERE.partition(':')[2]}"
    made = runner(inputs={"env": "auto", "paths": "lab/good one.scenario.yaml"}, action_path=copy, path=path)
    shadow = made.workspace / "harness"
    shadow.mkdir()
    for one in (shadow / "__init__.py", made.workspace / "logging.py"):
        one.write_text("raise SystemExit('a package of the user')")
    made.run()
    codes = {name: ran.code for name, ran in made.ran.items()}
    assert codes["Install faultlab"] == 0, made.ran["Install faultlab"].out
    assert codes["Toxiproxy"] == 0, made.ran["Toxiproxy"].out
    assert codes["Run"] == 0, made.ran["Run"].out
    assert "a package of the user" not in "".join(ran.out for ran in made.ran.values())
    assert made.path.startswith(str(made.temporary))


def test_a_client_that_got_worse_is_found_and_annotated(runner: Make) -> None:
    """Every expectation holds; the baseline alone knows that it was quicker."""
    inputs = {"env": "sim", "paths": "lab/good one.scenario.yaml", "repeat": "20"}
    before = runner(inputs=inputs)
    before.run("Run")
    file = before.workspace / "lab" / "good one.scenario.yaml"
    file.write_text(file.read_text().replace("Net.ReadTimeout: 2s", "Net.ReadTimeout: 3s"))
    made = runner(inputs={**inputs, "baseline": before.outputs["run"]["results"]})
    made.run("Run", "Hold against the baseline")
    assert made.ran["Run"].code == 0, made.ran["Run"].out
    held = made.ran["Hold against the baseline"]
    assert held.code == 10, held.out
    assert "REGRESSION  good" in held.out
    assert (
        "::error file=lab/good one.scenario.yaml,line=1,title=regression::good sarama 1.27.2: time to error" in held.out
    )
    document = fromstring(Path(made.value(ACTION["outputs"]["gate-junit"]["value"])).read_bytes())
    assert (document.get("tests"), document.get("failures")) == ("1", "1")


def test_what_nobody_can_tell_fails_the_job_unless_it_may_pass(runner: Make) -> None:
    before = runner(inputs={"env": "sim", "paths": "lab/good one.scenario.yaml", "repeat": "20"})
    before.run("Run")
    file = before.workspace / "lab" / "good one.scenario.yaml"
    file.write_text(file.read_text().replace("Net.ReadTimeout: 2s", "Net.ReadTimeout: 2001ms"))
    for inconclusive, code in (("fail", 2), ("warn", 0)):
        inputs = {"env": "sim", "paths": "lab/good one.scenario.yaml", "repeat": "2"}
        made = runner(inputs={**inputs, "baseline": before.outputs["run"]["results"], "inconclusive": inconclusive})
        made.run("Run", "Hold against the baseline")
        held = made.ran["Hold against the baseline"]
        assert held.code == code, held.out
        assert "title=unsure::good sarama 1.27.2: " in held.out


def test_its_scripts_and_expressions_hold_for_actionlint(tmp_path: Path) -> None:
    """It checks workflows alone, so the action's steps are those of a job here, and a job of docs/CI.md uses it."""
    actionlint = shutil.which("actionlint")
    if actionlint is None:
        pytest.skip("needs actionlint (go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7)")
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    action = (ROOT / "action.yml").read_text()
    (tmp_path / "action.yml").write_text(action)
    page = (ROOT / "docs" / "CI.md").read_text()
    (workflow,) = re.findall(r"```yaml\n(name: .*?)```", page, flags=re.DOTALL)
    (folder / "page.yml").write_text(workflow.replace("your-org/faultlab@v0.1.0", "./"))
    inputs = "".join(f"      {name}: {{type: string}}\n" for name in ACTION["inputs"])
    steps = re.sub(r"^  (?=.)", "    ", action.partition("  steps:\n")[2], flags=re.MULTILINE)
    job = f"jobs:\n  all:\n    runs-on: ubuntu-24.04\n    steps:\n{steps}"
    (folder / "steps.yml").write_text(f"name: steps\non:\n  workflow_call:\n    inputs:\n{inputs}{job}")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    done = subprocess.run([actionlint], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
