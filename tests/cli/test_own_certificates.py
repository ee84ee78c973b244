"""Protects runs with a user's own certificates: clients trust them in every world, a foreign one is still refused, and
no key gets into the results."""

import shutil
from pathlib import Path

import pytest
import trustme
from command_line import faultlab

SCENARIO = """\
format: 1
scenario: own-tls
about: Brokers with a certificate of ours, then with one of an authority that is not trusted.
client: {profile: sarama, version: 1.60.1}
settings: {Net.TLS.Enable: true, Producer.Retry.Max: 1, Metadata.Retry.Max: 0}
cluster:
  brokers: 1
  topics: [{name: orders}]
  tls: {ca: tls/ca.pem, certificate: tls/brokers.pem, key: tls/brokers.key}
steps:
  - {do: connect, expect: ok}
  - {do: send, as: warm_up, expect: acknowledged}
  - {inject: tls, how: foreign, as: another_authority}
  - {inject: reset, as: cut, times: 1}
  - {do: send, as: probe, give_up_after: 10s}
expect:
  - {measure: warm_up.outcome, equals: ok}
  - {measure: probe.outcome, equals: failed}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    authority = trustme.CA()
    leaf = authority.issue_cert("127.0.2.1")
    (tmp_path / "tls").mkdir()
    authority.cert_pem.write_to_path(str(tmp_path / "tls" / "ca.pem"))
    (tmp_path / "tls" / "brokers.pem").write_bytes(b"".join(one.bytes() for one in leaf.cert_chain_pems))
    leaf.private_key_pem.write_to_path(str(tmp_path / "tls" / "brokers.key"))
    (tmp_path / "own-tls.scenario.yaml").write_text(SCENARIO)
    return tmp_path


@pytest.mark.parametrize("environment", ["sim", pytest.param("local", marks=pytest.mark.cell)])
def test_clients_meet_the_users_certificate(project: Path, environment: str) -> None:
    ended = faultlab("run", ".", "--env", environment, "--out", "out", cwd=project)
    assert ended.code == 0, ended.out + ended.err
    key = (project / "tls" / "brokers.key").read_bytes().splitlines()[1]
    assert not [path for path in (project / "out").rglob("*") if path.is_file() and key in path.read_bytes()]


def test_a_file_that_is_gone_is_a_problem_of_the_scenario(project: Path) -> None:
    shutil.rmtree(project / "tls")
    ended = faultlab("run", ".", "--env", "sim", "--out", "out", cwd=project)
    assert ended.code == 4
    assert "tls/ca.pem" in ended.err
    assert "Traceback" not in ended.err
