"""Makes the helpers importable under import-mode=importlib; the two suites that are held against each other."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from command_line import faultlab, write_scenario
from gated import RUNS


@pytest.fixture(scope="session")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`was` and `is`: the same simulated suite twice, the later one with a longer time-out."""
    folder = tmp_path_factory.mktemp("gate")
    for name in ("dark", "darker"):
        write_scenario(folder / "s", name, repeat=RUNS)
    assert faultlab("run", "s", "--env", "sim", "--out", "was", cwd=folder).code == 0
    for path in (folder / "s").iterdir():
        path.write_text(path.read_text().replace("Net.ReadTimeout: 2s", "Net.ReadTimeout: 3s"))
    assert faultlab("run", "s", "--env", "sim", "--out", "is", cwd=folder).code == 0
    return folder


@pytest.fixture
def folder(suites: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    for name in ("s", "was", "is"):
        shutil.copytree(suites / name, tmp_path / name)
    return tmp_path
