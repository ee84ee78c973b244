"""Protects what is said of TLS and SASL before a run: what is wrong, where, and what to write instead."""

from pathlib import Path

import pytest

from harness.language import Problem, Problems, loads

SOURCE = """\
format: 1
scenario: behind-tls
about: Brokers that ask who a client is.
client: {profile: sarama, version: 1.60.1}
settings: {Net.TLS.Enable: true, Net.SASL.Enable: true}
cluster: {brokers: 1, topics: [{name: orders}], tls: true, sasl: [PLAIN], names: true}
steps:
  - {do: connect}
expect:
  - {measure: connect.time_to_end, at_most: 1s}
"""
HERE = Path("behind-tls.scenario.yaml")


def only_problem(*changes: tuple[str, str]) -> Problem:
    text = SOURCE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(Problems) as raised:
        loads(text, HERE)
    (problem,) = raised.value.problems
    return problem


def test_a_cluster_with_both() -> None:
    (cell,) = loads(SOURCE, HERE).cells
    assert (cell.cluster.tls, cell.cluster.sasl) == (True, ("PLAIN",))


@pytest.mark.parametrize("mechanism", ["OAUTHBEARER", "SCRAM-SHA256", "plain"])
def test_a_mechanism_that_the_brokers_do_not_know(mechanism: str) -> None:
    problem = only_problem(("sasl: [PLAIN]", f"sasl: [{mechanism}]"))
    assert mechanism in problem.message
    assert "SCRAM-SHA-512" in problem.message


@pytest.mark.parametrize("mechanism", ["OAUTHBEARER", "GSSAPI"])
def test_a_mechanism_for_which_the_program_brings_nothing(mechanism: str) -> None:
    problem = only_problem(("Net.SASL.Enable: true", f"Net.SASL.Enable: true, Net.SASL.Mechanism: {mechanism}"))
    assert (problem.code, problem.line) == ("setting-conflict", 5)


def test_a_client_without_credentials() -> None:
    problem = only_problem((", sasl: [PLAIN]", ""))
    assert (problem.code, problem.line) == ("no-credentials", 5)
    assert "sasl: [PLAIN]" in problem.hint


def test_a_password_in_a_scenario_is_refused_and_not_repeated() -> None:
    problem = only_problem(("Net.SASL.Enable: true", "Net.SASL.Enable: true, Net.SASL.Password: hunter2"))
    assert problem.code == "secret"
    assert "hunter2" not in problem.message + problem.hint


@pytest.mark.parametrize(
    ("fault", "without"),
    [
        ("{inject: tls, how: stall}", ", tls: true"),
        ("{inject: sasl, how: refuse}", ", sasl: [PLAIN]"),
        ("{inject: dns, how: empty}", ", names: true"),
    ],
)
def test_a_fault_that_would_meet_nothing(fault: str, without: str) -> None:
    plain = ("settings: {Net.TLS.Enable: true, Net.SASL.Enable: true}\n", "")
    problem = only_problem(plain, (without, ""), ("  - {do: connect}", f"  - {fault}\n  - {{do: connect}}"))
    assert (problem.code, problem.line) == ("fault", 7)
    assert without.removeprefix(", ").partition(":")[0] in problem.hint
