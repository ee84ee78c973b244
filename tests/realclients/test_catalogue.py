"""Protects which real clients there are and where their programs are kept: sources decide, and nothing else."""

import shutil
from pathlib import Path

import pytest

from client.profiles import profiles
from harness.realclients import (
    RealClientMissing,
    UnknownRealClient,
    catalogue,
    real_client,
    real_clients,
    select_clients,
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_every_release_of_a_profile_has_its_library() -> None:
    there = {(client.name, client.version) for client in real_clients()}
    assert {(one.name, release) for one in profiles().values() for release in one.releases} == there


def test_every_release_pins_what_it_is_built_of() -> None:
    for client in real_clients():
        assert f" v{client.version}\n" in client.modules.read_text()
        assert "h1:" in client.modules.with_suffix(".sum").read_text()


def test_the_key_changes_with_every_source_and_with_nothing_else(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = real_client("sarama", "1.27.2").program
    copy = tmp_path / "realclients"
    shutil.copytree(catalogue.SOURCES, copy)
    monkeypatch.setattr(catalogue, "SOURCES", copy)
    client = real_client("sarama", "1.27.2")
    assert client.program == before
    assert before.parent == cache / "faultlab" / "clients"
    seen = {before}
    for path in ("subject/subject.go", "sarama/main.go", "sarama/releases/1.27.2.mod", "sarama/releases/1.27.2.sum"):
        with (copy / path).open("a") as file:
            file.write("\n")
        assert client.program not in seen, path
        seen.add(client.program)
    (copy / "sarama" / "releases" / "1.60.1.sum").write_text("another release's")
    assert client.program in seen


def test_names_mean_a_client_or_one_release() -> None:
    assert [str(client) for client in select_clients(["sarama@1.60.1", "sarama"])] == ["sarama@1.60.1", "sarama@1.27.2"]
    assert select_clients([]) == real_clients()
    with pytest.raises(UnknownRealClient, match=r"did you mean sarama@1\.27\.2"):
        select_clients(["sarama@1.27.3"])
    with pytest.raises(UnknownRealClient, match=r"there is no real sarama 1\.27\.3; there are .*sarama@1\.27\.2"):
        real_client("sarama", "1.27.3")


def test_what_is_not_built_is_said_with_the_command_that_builds_it(cache: Path) -> None:
    with pytest.raises(RealClientMissing) as caught:
        real_client("sarama", "1.27.2").found()
    assert (caught.value.reason, caught.value.remedy) == (
        "the real sarama@1.27.2 is not built", "faultlab clients build sarama@1.27.2"
    )  # fmt: skip
