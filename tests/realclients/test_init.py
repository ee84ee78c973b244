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

from harness.language.loader import load
from harness.realclients.templates import TEMPLATES, make_template

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


@pytest.mark.parametrize("client", TEMPLATES)
def test_the_scenario_of_each_client_is_right(tmp_path: Path, client: str) -> None:
    files = make_template(client).files
    for path, file in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(file.text)
    if Path("main.go") in files:  # its build is asked for in another test
        (tmp_path / "my-client").write_text("")
        (tmp_path / "my-client").chmod(0o755)
    else:
        (tmp_path / "my_client.py").chmod(0o755)
    assert load(tmp_path / "dark.scenario.yaml").cells


def test_a_language_is_the_usual_one_of_its_clients() -> None:
    assert make_template("python") == make_template("kafka-python")
    assert make_template("go") == make_template("sarama")


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("client", "package", "limits"),
    [
        (
            "kafka-python", "kafka",
            ("max_block_ms=2s", "request_timeout_ms=1s", "delivery_timeout_ms=3s", "bootstrap_timeout_ms=3s"),
        ),
        ("confluent-kafka", "confluent_kafka", ("message.timeout.ms=3s", "request.timeout.ms=1s")),
    ],
)  # fmt: skip
def test_the_python_programs_run_and_keep_the_protocol(
    faultlab: Faultlab, tmp_path: Path, client: str, package: str, limits: tuple[str, ...]
) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{client} is not installed")
    said = faultlab("init", "--client", client).stdout
    assert "faultlab run --env local dark.scenario.yaml" in said
    mine = tmp_path / "my-client"
    done = faultlab("run", "--env", "local", "dark.scenario.yaml", cwd=mine)
    assert done.returncode == 0, done.stdout
    quick = [word for limit in limits for word in ("--set", limit)]
    done = faultlab("clients", "check", *quick, "./my_client.py", cwd=mine)
    assert done.returncode == 0, done.stdout


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go on PATH")
@pytest.mark.parametrize("client", ["sarama", "kafka-go"])
def test_the_go_programs_build_run_and_keep_the_protocol(faultlab: Faultlab, tmp_path: Path, client: str) -> None:
    said = faultlab("init", "--client", client, "mine").stdout
    mine = tmp_path / "mine"
    # The caches of the machine are not this test's to fill; without -modcacherw the folder could not be deleted.
    caches = {"GOPATH": str(tmp_path / "go"), "GOCACHE": str(tmp_path / "cache"), "GOFLAGS": "-modcacherw"}
    subprocess.run(["go", "build", "-o", "my-client", "."], cwd=mine, env={**os.environ, **caches}, check=True)
    done = faultlab("run", "--env", "local", "dark.scenario.yaml", cwd=mine)
    assert done.returncode == 0, done.stdout
    (check,) = re.findall(r"^ +faultlab (clients check (?:.*\\\n)*.*)$", said, re.MULTILINE)
    done = faultlab(*shlex.split(check.replace("\\\n", "")), cwd=mine)
    assert done.returncode == 0, done.stdout
