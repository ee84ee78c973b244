"""Protects `--open`: the browser is shown the page, and nothing of it keeps the command alive or its pipes open."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.report.browser import show

PATIENCE_S = 60.0


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A folder with an opener that writes down what it was given, and then stays as a browser does."""
    folder = tmp_path / "bin"
    folder.mkdir()
    opener = folder / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" > {folder}/given.new\necho $$ >> {folder}/given.new\n'
                      f"mv {folder}/given.new {folder}/given\nexec sleep 1000\n")  # fmt: skip
    opener.chmod(0o755)
    return folder


def given(folder: Path) -> tuple[str, int]:
    """What the opener was given, and its process id."""
    deadline = time.monotonic() + PATIENCE_S
    while not (folder / "given").exists():
        assert time.monotonic() < deadline, "the opener was never started"
        time.sleep(0.01)
    address, pid = (folder / "given").read_text().split()
    return address, int(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="the opener is called otherwise")
def test_the_command_ends_while_the_browser_stays(browser: Path, tmp_path: Path) -> None:
    page = tmp_path / "a page.html"
    environ = {**os.environ, "PATH": f"{browser}:{os.environ['PATH']}", "DISPLAY": ":0"}
    code = f"from pathlib import Path; from cli.report.browser import show; print(repr(show(Path({str(page)!r}))))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        env=environ,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    address, pid = given(browser)
    try:
        assert done.stdout == "''\n"
        assert address == page.as_uri()
        assert "%20" in address
    finally:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
def test_without_a_screen_or_an_opener_it_says_so(browser: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert show(page, environ={"PATH": str(browser)}) == "there is no screen here (DISPLAY is not set)"
    assert "no program that opens a browser" in show(page, environ={"PATH": str(tmp_path), "DISPLAY": ":0"})
    assert not (browser / "given").exists()
