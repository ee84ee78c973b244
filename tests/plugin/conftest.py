"""One project a test; and the helpers importable under import-mode=importlib."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
