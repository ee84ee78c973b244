"""The package of `example`, as an installer would leave it."""

import shutil
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # helpers, under import-mode=importlib
from installed import Installation

EXAMPLE = Path(__file__).parent / "example"


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """No package is added; the working folder has the example's scenario."""
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(EXAMPLE / "slow-listing.scenario.yaml", project)
    return Installation.create(tmp_path / "environment", project)


@pytest.fixture
def example(installation: Installation) -> Installation:
    """The example's package is installed."""
    declared = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    entry_points = declared["entry-points"]["faultlab.extensions"]
    installation.install(declared["name"], entry_points, EXAMPLE / "faultlab_example")
    return installation
