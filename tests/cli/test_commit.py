"""Protects what a suite says of its commit: the repository's own, or what the CI system says, or nothing."""

import shutil
import subprocess
from pathlib import Path

import pytest

from cli.suite.commit import commit_of


def test_without_a_repository_the_ci_system_is_asked(tmp_path: Path) -> None:
    assert commit_of(tmp_path, {}) == ""
    assert commit_of(tmp_path, {"CI_COMMIT_SHA": "0123456789abcdef0123"}) == "0123456789ab"


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git on PATH")
def test_a_changed_file_makes_the_commit_dirty(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        named = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        return subprocess.run(
            ["git", *named, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q")
    (tmp_path / "file").write_text("a")
    git("add", "file")
    git("commit", "-q", "-m", "first")
    assert commit_of(tmp_path, {}) == git("rev-parse", "HEAD")[:12]
    (tmp_path / "file").write_text("b")
    assert commit_of(tmp_path, {}) == git("rev-parse", "HEAD")[:12] + "-dirty"
