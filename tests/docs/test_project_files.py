"""Protects what people expect of a project: a licence with notices, a change log, hooks and CI that run the checks."""

import re
import tomllib
from pathlib import Path

import yaml

from client.profiles import profiles

ROOT = Path(__file__).parents[2]


def test_the_hooks_are_what_make_check_runs() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", ".venv/bin")
    makefile = makefile.replace("$(PYTEST)", ".venv/bin/python -m pytest")
    recipes = {name: re.search(rf"^{name}:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE) for name in ("lint", "check")}
    asked = [line.strip() for found in recipes.values() if found for line in found[1].splitlines()]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    assert len(asked) > 3
    assert [hook["entry"] for hook in hooks] == asked


def test_ci_calls_what_anybody_can_call() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["ci"]["steps"]
    assert ".ci/run" in [step.get("run") for step in steps]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_the_version_is_in_the_change_log_and_the_licence_is_the_declared_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert project["version"] in headings
    assert headings[0] in ("Unreleased", project["version"])
    assert project["license"] == {"text": "Apache-2.0"}
    assert "Version 2.0, January 2004" in (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_every_profile_s_source_is_named_with_its_licence() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    for name in profiles():
        assert f"client/profiles/{name.replace('-', '_')}" in notice, name
