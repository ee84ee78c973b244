"""Protects the first quarter of an hour with a program of one's own: what `init` writes runs as it stands."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from harness.language.loader import load
from harness.realclients import templates
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
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(file.text)
        (tmp_path / path).chmod(0o755 if file.executable else 0o644)
    if Path("main.go") in files:  # its build is asked for in another test
        (tmp_path / "my-client").write_text("")
        (tmp_path / "my-client").chmod(0o755)
    assert load(tmp_path / "dark.scenario.yaml").cells


def test_a_language_is_the_usual_one_of_its_clients() -> None:
    assert make_template("python") == make_template("kafka-python")
    assert make_template("go") == make_template("sarama")


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("client", "package"), [("kafka-python", "kafka"), ("confluent-kafka", "confluent_kafka")])
def test_the_python_programs_run_and_keep_the_protocol(
    faultlab: Faultlab, tmp_path: Path, client: str, package: str
) -> None:
    if find_spec(package) is None:
        pytest.skip(f"{client} is not installed")
    said = faultlab("init", "--client", client).stdout
    runs_and_keeps_the_protocol(faultlab, tmp_path / "my-client", said)


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
    runs_and_keeps_the_protocol(faultlab, mine, said)


@pytest.mark.cell
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(shutil.which("mvn") is None, reason="there is no Maven on PATH")
def test_the_java_program_builds_runs_and_keeps_the_protocol(faultlab: Faultlab, tmp_path: Path) -> None:
    said = faultlab("init", "--client", "java", "mine").stdout
    build = [*next(line.split() for line in said.splitlines() if "mvn" in line), "--batch-mode"]
    subprocess.run(build, cwd=tmp_path / "mine", check=True)
    runs_and_keeps_the_protocol(faultlab, tmp_path / "mine", said)


def runs_and_keeps_the_protocol(faultlab: Faultlab, folder: Path, said: str) -> None:
    """The commands that `init` names, with the library's own time-outs: a patient client breaks no promise."""
    commands = [shlex.split(line) for line in re.findall(r"^ +faultlab (.*)$", said, re.MULTILINE)]
    assert [words[0] for words in commands] == ["run", "clients"]
    for words in commands:
        done = faultlab(*words, cwd=folder)
        assert done.returncode == 0, done.stdout


def test_installing_the_library_is_a_step_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a first run that lacks it stands a minute or two of building Toxiproxy, for nothing."""
    monkeypatch.setattr(templates, "find_spec", lambda name: None)
    assert make_template("kafka-python").steps[:2] == (
        "python3 -m pip install kafka-python",
        "faultlab run --env local dark.scenario.yaml",
    )


@pytest.mark.parametrize(("client", "setting"), [("kafka-python", "retry_backoff_ms"), ("confluent-kafka", "x.ms")])
def test_a_number_is_in_the_unit_of_the_setting(tmp_path: Path, client: str, setting: str) -> None:
    """librdkafka's own `delivery.timeout.ms=500` is half a second; it became 500 s."""
    library = {"kafka-python": "kafka", "confluent-kafka": "confluent_kafka"}[client]
    (tmp_path / "my_client.py").write_text(make_template(client).files[Path("my_client.py")].text)
    (tmp_path / "faultlab_subject.py").write_text("def main(client): pass\n")
    (tmp_path / f"{library}.py").write_text(
        "import time\n"
        "class KafkaException(Exception): pass\n"
        "class Producer:\n"
        "    def __init__(self, given): self.given = given\n"
        "    def poll(self, _): time.sleep(9)\n"
        "class KafkaProducer:\n"
        "    def __init__(self, **given): self.given = given\n"
    )
    told = (
        "from my_client import Client; c = Client();"
        f"[c.connect(['a:1'], {{{setting!r}: v}}) or print(c.producer.given[{setting!r}]) for v in (500, 0.5)]"
    )
    done = subprocess.run(
        [sys.executable, "-c", told], cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stdout.split() == ["500", "500"], done.stderr
