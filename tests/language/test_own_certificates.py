"""Protects what is said of a user's own certificates before a run: which file is wrong, and what to do."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme

from harness.language import Problem, Problems, load

SOURCE = """\
format: 1
scenario: own-tls
about: Brokers with a certificate of ours.
client: {profile: sarama, version: 1.60.1}
settings: {Net.TLS.Enable: true}
cluster:
  brokers: 2
  topics: [{name: orders}]
  tls:
    ca: ca.pem
    certificate: brokers.pem
    key: brokers.key
steps:
  - {do: connect}
expect:
  - {measure: connect.time_to_end, at_most: 1s}
"""
LINES = {"ca": 10, "certificate": 11, "key": 12}
BROKERS = ("127.0.2.1", "127.0.2.2")
AUTHORITY = trustme.CA()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A scenario with three files that are right."""
    issue(tmp_path, AUTHORITY.issue_cert(*BROKERS))
    AUTHORITY.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    (tmp_path / "own-tls.scenario.yaml").write_text(SOURCE)
    return tmp_path


def issue(folder: Path, leaf: trustme.LeafCert) -> None:
    (folder / "brokers.pem").write_bytes(b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
    leaf.private_key_pem.write_to_path(str(folder / "brokers.key"))


def problem_in(folder: Path, *changes: tuple[str, str]) -> Problem:
    text = SOURCE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "own-tls.scenario.yaml"
    path.write_text(text)
    with pytest.raises(Problems) as raised:
        load(path)
    (problem,) = raised.value.problems
    return problem


def test_files_that_are_right(folder: Path) -> None:
    (cell,) = load(folder / "own-tls.scenario.yaml").cells
    assert cell.cluster.tls
    assert cell.cluster.certificates is not None
    assert cell.cluster.certificates.folder == folder


def test_another_folder_gives_the_same_run(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    for file in folder.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    (one,), (two,) = (load(at / "own-tls.scenario.yaml").cells for at in (folder, other))
    assert one.run_id == two.run_id


def test_names_where_clients_dial_names(folder: Path) -> None:
    issue(folder, AUTHORITY.issue_cert("broker-1.kafka.test", "broker-2.kafka.test"))
    path = folder / "own-tls.scenario.yaml"
    path.write_text(SOURCE.replace("  brokers: 2\n", "  brokers: 2\n  names: true\n"))
    assert load(path).cells


@pytest.mark.parametrize("key", ["ca", "certificate", "key"])
def test_a_file_that_is_not_named(folder: Path, key: str) -> None:
    line = next(line for line in SOURCE.splitlines() if line.strip().startswith(f"{key}:"))
    problem = problem_in(folder, (f"{line}\n", ""))
    assert key in problem.message
    assert 9 <= problem.line <= 11


@pytest.mark.parametrize("key", ["ca", "certificate", "key"])
@pytest.mark.parametrize("how", ["missing", "folder", "pipe", "garbage", "empty"])
def test_a_file_that_cannot_be_used(folder: Path, key: str, how: str) -> None:
    name = {"ca": "ca.pem", "certificate": "brokers.pem", "key": "brokers.key"}[key]
    (folder / name).unlink()
    match how:
        case "folder":
            (folder / name).mkdir()
        case "pipe":
            subprocess.run(["mkfifo", folder / name], check=True)
        case "garbage":
            (folder / name).write_bytes(bytes(range(256)))
        case "empty":
            (folder / name).touch()
    problem = problem_in(folder)
    assert (problem.code, problem.line) == ("certificate", LINES[key])
    assert name in problem.message


def test_every_file_that_cannot_be_read_is_said_at_once(folder: Path) -> None:
    for name in ("ca.pem", "brokers.pem", "brokers.key"):
        (folder / name).unlink()
    with pytest.raises(Problems) as raised:
        load(folder / "own-tls.scenario.yaml")
    assert [problem.line for problem in raised.value.problems] == list(LINES.values())


@pytest.mark.parametrize("name", ["a\\0b", "/dev/zero", "x" * 300])
def test_what_names_no_file(folder: Path, name: str) -> None:
    problem = problem_in(folder, ("ca.pem", f'"{name}"'))
    assert problem.line == LINES["ca"]


def test_a_certificate_whose_time_is_over(folder: Path) -> None:
    issue(folder, AUTHORITY.issue_cert(*BROKERS, not_after=datetime(2001, 1, 1, tzinfo=UTC)))
    problem = problem_in(folder)
    assert (problem.code, problem.line) == ("certificate", LINES["certificate"])
    assert "expired" in problem.message
    assert "how: expired" in problem.hint


def test_a_certificate_for_one_of_two_brokers(folder: Path) -> None:
    issue(folder, AUTHORITY.issue_cert(BROKERS[0]))
    problem = problem_in(folder)
    assert problem.line == LINES["certificate"]
    assert BROKERS[1] in problem.message


def test_a_certificate_of_another_authority(folder: Path) -> None:
    issue(folder, trustme.CA().issue_cert(*BROKERS))
    problem = problem_in(folder)
    assert problem.line == LINES["ca"]
    assert "brokers.pem" in problem.message


def test_the_key_of_another_certificate(folder: Path) -> None:
    AUTHORITY.issue_cert(*BROKERS).private_key_pem.write_to_path(str(folder / "brokers.key"))
    assert problem_in(folder).line == LINES["key"]


def test_a_key_with_a_passphrase_asks_nobody_for_it(folder: Path) -> None:
    key = folder / "brokers.key"
    command = ["openssl", "pkey", "-aes256", "-passout", "pass:hunter2", "-in", key, "-out", folder / "locked"]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "locked").rename(key)
    problem = problem_in(folder)
    assert problem.line == LINES["key"]
    assert "passphrase" in problem.message


def test_nothing_of_a_file_is_repeated(folder: Path) -> None:
    (folder / "ca.pem").write_text("hunter2\n")
    problem = problem_in(folder)
    assert "hunter2" not in problem.message + problem.hint


@pytest.mark.parametrize("how", ["expired", "wrong_name"])
def test_a_flaw_that_only_the_authority_could_sign(folder: Path, how: str) -> None:
    problem = problem_in(folder, ("  - {do: connect}", f"  - {{inject: tls, how: {how}}}\n  - {{do: connect}}"))
    assert (problem.code, problem.line) == ("fault", 14)
    assert "how: foreign" in problem.hint


@pytest.mark.parametrize("how", ["stall", "cut", "foreign"])
def test_a_fault_for_which_nothing_is_signed(folder: Path, how: str) -> None:
    path = folder / "own-tls.scenario.yaml"
    path.write_text(SOURCE.replace("  - {do: connect}", f"  - {{inject: tls, how: {how}}}\n  - {{do: connect}}"))
    assert load(path).cells


def test_a_misspelt_key_is_named_where_it_stands(folder: Path) -> None:
    problem = problem_in(folder, ("    key:", "    kye:"))
    assert (problem.code, problem.line, problem.column) == ("unknown-key", LINES["key"], 5)
    assert "key" in problem.hint
