"""Protects docs/PYTEST.md: what it shows is what a reader gets who does the same with the README's scenario."""

import re
from pathlib import Path

import pytest
from project import Project

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "PYTEST.md").read_text()
MATRIX = "matrix: {settings.Producer.Retry.Max: [0, 1]}"


def test_its_session_and_its_tests_are_true(project: Project) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert f"`{MATRIX}`" in PAGE
    assert ", Producer.Retry.Max: 0}" in text
    project.write("faults/dark.scenario.yaml", text.replace(", Producer.Retry.Max: 0}", "}") + MATRIX + "\n")
    session = re.findall(r"^    (.*)$", PAGE, flags=re.MULTILINE)
    assert session[0] == "$ pytest faults --faultlab-env sim"
    shown = project.pytest(*session[0].split()[2:], COLUMNS="80").out
    for line in session[1:4]:
        assert line in shown, shown
    project.write("test_mine.py", "\n".join(re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)))
    done = project.pytest("test_mine.py")
    assert done.code == 0, done.out
    assert set(done.outcomes.values()) == {"passed"}
    assert len(done.outcomes) == PAGE.count("\ndef test_")
