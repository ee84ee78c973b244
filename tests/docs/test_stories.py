"""Every command in the stories still prints what stands below it."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(400)
def test_every_command_of_every_story_prints_what_stands_below_it() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "stories.py"))
    files = dict(tool["rendered_files"]())
    assert any(path.suffix == ".md" and "$ faultlab explain" in text for path, text in files.items())
    assert any(path.suffix == ".svg" for path in files)
    for path, text in files.items():
        message = f"{path.relative_to(ROOT)} is out of date: .venv/bin/python tools/stories.py"
        assert path.read_text(encoding="utf-8") == text, message
