"""Protects docs/CI.md: the files that people copy are run, with what the systems would set, and with the action."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from runner import ROOT, Runner, load

from cli.exit_codes import ExitCode

pytestmark = pytest.mark.ci

PAGE = (ROOT / "docs" / "CI.md").read_text()
ACTION = load((ROOT / "action.yml").read_text())
SCENARIO = """\
format: 1
scenario: dark
about: A port goes dark.
client: {profile: sarama, version: 1.27.2}
settings: {Net.ReadTimeout: 1s}
cluster: {brokers: 1, topics: [{name: orders}]}
steps:
  - {do: connect}
  - {do: send, as: warm_up, expect: acknowledged}
  - {inject: blackhole, brokers: all, as: outage}
  - {do: send, as: probe, give_up_after: 60s}
expect:
  - {measure: probe.time_to_error, equals: Net.ReadTimeout, within: 1% + 100ms}
matrix: {settings.Producer.Retry.Max: [0]}
"""
HERE = f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin:/sbin:/bin"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Somebody's checkout, with the baseline that the page's own commands make."""
    (tmp_path / "project" / "faults").mkdir(parents=True)
    (tmp_path / "project" / "faults" / "dark.scenario.yaml").write_text(SCENARIO)
    (commands,) = blocks("sh")
    shell(commands, tmp_path / "project")
    assert (tmp_path / "project" / "faultlab-baseline.json").is_file()
    shutil.rmtree(tmp_path / "project" / "results")
    return tmp_path / "project"


def shell(script: str, folder: Path, **variables: str) -> str:
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=folder, env={"PATH": HERE, "HOME": str(Path.home()), **variables}, text=True, timeout=300, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.cell
def test_the_workflow_for_github(project: Path, tmp_path: Path) -> None:
    workflow = load(blocks("yaml")[0])
    (job,) = workflow["jobs"].values()
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for step in job["steps"] if "faultlab@" in step["uses"]]
    assert len({step["with"].get("artifact", "faultlab") for step in steps}) == len(steps), (
        "artifacts have names of their own"
    )
    for number, step in enumerate(steps):
        assert set(step["with"]) <= set(ACTION["inputs"])
        assert all(isinstance(value, str) for value in step["with"].values()), (
            "YAML makes numbers of what is not quoted"
        )
        temporary = tmp_path / f"temp-{number}"
        temporary.mkdir()
        runner = Runner(ACTION, project, temporary, inputs=step["with"], path=HERE)
        runner.run("Namespaces", "Run", "Hold against the baseline", "Put AppArmor's restriction back")
        assert runner.ran["Run"].code == 0, runner.ran["Run"].out
        assert runner.ran["Hold against the baseline"].code == (0 if "baseline" in step["with"] else None), runner.ran


def gitlab() -> dict[str, Any]:
    (job,) = load(blocks("yaml")[1]).values()
    return dict(job)


def variables(job: dict[str, Any], project: Path, **more: str) -> dict[str, str]:
    """As GitLab expands them."""
    told = {name: text.replace("$CI_PROJECT_DIR", str(project)) for name, text in job["variables"].items()}
    return {**told, "GITLAB_CI": "true", "CI": "true", "CI_PROJECT_DIR": str(project), **more}


def test_the_script_for_gitlab(project: Path) -> None:
    """With this checkout's installation in place of the one that `before_script` makes."""
    job = gitlab()
    (project / ".faultlab").mkdir()
    (project / ".faultlab" / "bin").symlink_to(Path(sys.executable).parent)
    out = shell("\n".join(job["script"]), project, **variables(job, project))
    assert "\x1b[0Ksection_start:" in out
    runs, compared = (fromstring((project / name).read_bytes()) for name in job["artifacts"]["reports"]["junit"])
    assert (runs.get("tests"), compared.get("tests"), compared.get("failures")) == ("20", "1", "0")
    assert (project / job["artifacts"]["paths"][0] / "manifest.json").is_file()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_whole_job_for_gitlab(project: Path, tmp_path: Path) -> None:
    """Its installation too; a package index has to be reachable."""
    copy = tmp_path / "faultlab"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".?*", "results", "build", "*.egg-info", "__pycache__"))
    (tmp_path / "python").mkdir()
    (tmp_path / "python" / "python").symlink_to(sys.executable)
    job = gitlab()
    path = f"{tmp_path / 'python'}:{HERE.partition(':')[2]}"
    script = "\n".join([*job["before_script"], *job["script"]])
    shell(script, project, **variables(job, project, FAULTLAB=str(copy), PATH=path))


def test_the_table_of_exit_codes_is_that_of_the_command() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, flags=re.MULTILINE)}
    assert told == {int(code) for code in ExitCode} - {ExitCode.BROKEN_PIPE}
