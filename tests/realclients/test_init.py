"""Protects the first quarter of an hour with a program of one's own: what `init` writes runs as it stands."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

Faultlab = Callable[..., Any]


def test_nothing_is_overwritten(faultlab: Faultlab, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "my_client.py").write_text("my work")
    done = faultlab("init", "--client", "python", "mine")
    assert done.returncode == 4
    assert "mine/my_client.py would be overwritten: nothing was written" in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["my_client.py"]


def test_a_folder_that_cannot_be_written_is_named(faultlab: Faultlab, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = faultlab("init", "--client", "go", "file/mine")
    assert done.returncode == 4
    assert "file/mine cannot be written" in done.stderr


def test_the_scenarios_are_right(faultlab: Faultlab, tmp_path: Path) -> None:
    for language, program in (("python", "my_client.py"), ("go", "my-client")):
        assert faultlab("init", "--client", language, language).returncode == 0
        path = tmp_path / language / program
        path.touch()
        path.chmod(0o755)
        done = faultlab("validate", language)
        assert done.returncode == 0, done.stderr


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(find_spec("kafka") is None, reason="kafka-python is not installed")
def test_the_python_program_runs_and_keeps_the_protocol(faultlab: Faultlab, tmp_path: Path) -> None:
    said = faultlab("init", "--client", "python").stdout
    assert "faultlab run --env local dark.scenario.yaml" in said
    mine = tmp_path / "my-client"
    done = faultlab("run", "--env", "local", "dark.scenario.yaml", cwd=mine)
    assert done.returncode == 0, done.stdout
    limits = ("max_block_ms=2s", "request_timeout_ms=1s", "delivery_timeout_ms=3s", "bootstrap_timeout_ms=3s")
    quick = [word for limit in limits for word in ("--set", limit)]
    done = faultlab("clients", "check", *quick, "./my_client.py", cwd=mine)
    assert done.returncode == 0, done.stdout


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go on PATH")
def test_the_go_program_builds_runs_and_keeps_the_protocol(faultlab: Faultlab, tmp_path: Path) -> None:
    said = faultlab("init", "--client", "go", "mine").stdout
    mine = tmp_path / "mine"
    # The caches of the machine are not this test's to fill; without -modcacherw the folder could not be deleted.
    caches = {"GOPATH": str(tmp_path / "go"), "GOCACHE": str(tmp_path / "cache"), "GOFLAGS": "-modcacherw"}
    subprocess.run(["go", "build", "-o", "my-client", "."], cwd=mine, env={**os.environ, **caches}, check=True)
    done = faultlab("run", "--env", "local", "dark.scenario.yaml", cwd=mine)
    assert done.returncode == 0, done.stdout
    (check,) = re.findall(r"^ +faultlab (clients check (?:.*\\\n)*.*)$", said, re.MULTILINE)
    done = faultlab(*shlex.split(check.replace("\\\n", "")), cwd=mine)
    assert done.returncode == 0, done.stdout
