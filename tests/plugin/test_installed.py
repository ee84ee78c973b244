"""Protects that an existing checkout gets the plugin: its entry point is installed, and set-up sees changes."""

import importlib.util
import shutil
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_entry_point_is_the_one_that_the_project_declares() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    installed = {point.name: point.value for point in entry_points(group="pytest11") if point.name == "faultlab"}
    assert installed == declared == {"faultlab": "pytest_faultlab"}


def test_every_module_of_the_plugin_is_installed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["py-modules"]
    assert sorted(listed) == sorted(file.stem for file in ROOT.glob("pytest_faultlab*.py"))


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
