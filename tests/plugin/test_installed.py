"""Protects that an existing checkout gets the plugin: its entry point is installed, and set-up sees changes."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from project import Project, scenario

from harness.toxiproxy.obtain import ToxiproxyMissing, find

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]


def test_the_entry_point_is_the_one_that_the_project_declares() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    installed = {point.name: point.value for point in entry_points(group="pytest11") if point.name == "faultlab"}
    assert installed == declared == {"faultlab": "pytest_faultlab"}


def test_every_module_of_the_plugin_is_installed() -> None:
    """By the plugin alone, too, whose build names each file."""
    alone = tomllib.loads((ROOT / "plugin" / "pyproject.toml").read_text())
    files = sorted(file.name for file in ROOT.glob("pytest_faultlab*.py"))
    assert sorted(alone["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"].values()) == files
    assert (
        "/pytest_faultlab*.py"
        in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["include"]
    )


def test_the_plugin_alone_is_the_same_release() -> None:
    both = [tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"] for folder in ("", "plugin")]
    for key in ("version", "requires-python"):
        assert both[0][key] == both[1][key]
    assert both[0]["entry-points"] == both[1]["entry-points"]
    assert both[0]["optional-dependencies"]["pytest"] == both[1]["dependencies"]


def test_set_up_installs_again_when_the_project_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("set_up", ROOT / "tools" / "set_up.py")
    assert spec is not None
    assert spec.loader is not None
    set_up = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(set_up)
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.setattr(set_up, "ROOT", tmp_path)
    before = set_up.fingerprint()
    assert set_up.fingerprint() == before
    project = tmp_path / "pyproject.toml"
    project.write_text(project.read_text().replace("[project.entry-points.pytest11]", "[project.entry-points.other]"))
    assert set_up.fingerprint() != before


def test_the_toxiproxy_server_is_built_before_any_package_is_there() -> None:
    """The set-up builds it beside pip, with a Python that has nothing but its standard library."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import harness.toxiproxy.__main__"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


PROGRAM = f"""\
#!{sys.executable}
import sys
sys.path.insert(0, {str(ROOT)!r})
from cli.entry import main
sys.exit(main())
"""


def test_the_plugin_alone_runs_an_engine_that_is_elsewhere(project: Project) -> None:
    """On PATH or by an option, whatever packages the project has and names in PYTHONPATH."""
    site, tool = project.path.parent / "site", project.path.parent / "tool"
    for folder in (site, tool):
        folder.mkdir()
    for file in ROOT.glob("pytest_faultlab*.py"):
        shutil.copy(file, site)
    (tool / "faultlab").write_text(PROGRAM)
    (tool / "faultlab").chmod(0o755)
    project.write("good.scenario.yaml", scenario("good"))
    for package in ("cli", "client"):
        project.write(f"{package}/__init__.py", "raise SystemExit('a package of the project')")
    path, imported = "/usr/bin:/bin", f"{site}:{project.path}"

    missing = project.pytest(PATH=path, PYTHONPATH=imported)
    assert missing.code != 0
    assert "there is no program faultlab on PATH" in missing.out
    for words, where in (((), f"{tool}:{path}"), (("--faultlab-engine=../tool/faultlab",), path)):
        done = project.pytest(*words, PATH=where, PYTHONPATH=imported)
        assert done.outcomes == {"good": "passed"}, done.out


@pytest.mark.cell
@pytest.mark.parametrize("workers", [(), ("-n", "1")])
@pytest.mark.parametrize("by", ["collected", "fixture"])
def test_what_a_first_run_obtains_is_said_in_one_line(project: Project, by: str, workers: tuple[str, ...]) -> None:
    """A build takes a minute or two, in which pytest would seem to hang. Here `go` copies a server that is there."""
    try:
        server = find()
    except ToxiproxyMissing as missing:
        pytest.skip(missing.reason)
    tools, cache = project.path.parent / "tools", project.path.parent / "cache"
    tools.mkdir()
    (tools / "go").write_text(f'#!/bin/sh\nmkdir -p "$GOBIN" && sleep 1 && cp {server} "$GOBIN/server"\n')
    (tools / "go").chmod(0o755)
    text = scenario("good")
    if by == "fixture":
        project.write("test_it.py", f"def test_it(lab):\n    lab.check(lab.run({text!r}, environment='local'))\n")
    else:
        project.write("good.scenario.yaml", text)

    done = project.pytest(
        *workers, env="local", PATH=f"{tools}:/usr/bin:/bin", XDG_CACHE_HOME=str(cache), TOXIPROXY_SERVER=""
    )
    assert done.code == 0, done.out
    said = [line for line in done.out.splitlines() if "toxiproxy" in line]
    assert len(said) == 1, done.out
    assert re.fullmatch(
        r"faultlab: toxiproxy \S+: not on this machine; built once, which takes a minute or two, and kept in "
        + re.escape(str(cache / "faultlab")),
        said[0],
    )
