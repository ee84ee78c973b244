"""Protects slow tests and tests in cells from never being run: they are looked for where their mark is written."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("word", ["cell", "slow"])
def test_marks_are_written_in_test_files_and_the_conftest_beside_them(word: str) -> None:
    mark = f"mark.{word}"
    named = [file for file in TESTS.rglob("*.py") if mark in file.read_text(encoding="utf-8")]
    assert named
    assert [file for file in named if not file.name.startswith("test_") and file.name != "conftest.py"] == []
    assert TESTS / "conftest.py" not in named, "that one is beside no test file"
