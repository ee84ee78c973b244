"""The folder's helpers are importable by their names; what each zygote would build is built once for all."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def _preloaded() -> None:
    from harness.environments.local.preload import preload

    preload()
