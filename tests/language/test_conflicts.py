"""Protects that settings which a client refuses together are refused before a run, unless that is what it is about."""

from pathlib import Path

import pytest

from harness.language import Problems, loads

SOURCE = """\
format: 1
scenario: exactly-once
about: A producer that is idempotent.
client: {profile: sarama, version: 1.27.2}
settings: {Producer.Idempotent: true}
cluster: {brokers: 1, topics: [{name: orders}]}
steps:
  - {do: connect}
expect:
  - {measure: connect.time_to_end, equals: 0s, within: 50ms}
"""
HERE = Path("exactly-once.scenario.yaml")
SAID = "kafka: invalid configuration (Idempotent producer requires {})"
ACKS = SAID.format("Producer.RequiredAcks to be WaitForAll")
REQUESTS = SAID.format("Net.MaxOpenRequests to be 1")
RETRIES = SAID.format("Producer.Retry.Max >= 1")
EXPECT = "; where this error is what is tested, write {do: connect, expect: failed}"


def told(source: str = SOURCE, **given: str) -> list[tuple[str, str, str]]:
    with pytest.raises(Problems) as raised:
        loads(source, HERE, {name.replace("__", "."): text for name, text in given.items()})
    assert {problem.code for problem in raised.value.problems} == {"setting-conflict"}
    return [(p.where.rpartition("yaml:")[2], p.message, p.hint) for p in raised.value.problems]


def test_all_that_one_setting_asks_for_is_said_at_its_line() -> None:
    assert told() == [
        ("5:12", REQUESTS, f"add Net.MaxOpenRequests: 1{EXPECT}"),
        ("5:12", ACKS, f"add Producer.RequiredAcks: WaitForAll{EXPECT}"),
    ]


def test_what_stands_there_and_contradicts_is_shown_at_its_own_line() -> None:
    source = SOURCE.replace("true}", "true, Net.MaxOpenRequests: 1,\n  Producer.RequiredAcks: WaitForLocal}")
    assert told(source) == [("6:26", ACKS, f"write Producer.RequiredAcks: WaitForAll{EXPECT}")]


def test_a_row_of_the_matrix_is_held_against_the_rest() -> None:
    source = SOURCE.replace("true}", "true, Net.MaxOpenRequests: 1, Producer.RequiredAcks: WaitForAll}")
    assert loads(source, HERE).cells
    matrix = "matrix: {settings.Producer.Retry.Max: [1, 0]}\n"
    assert told(source + matrix) == [("11:43", RETRIES, f"write Producer.Retry.Max: 1{EXPECT}")]


def test_an_option_is_told_which_options_are_missing() -> None:
    plain = SOURCE.replace("settings: {Producer.Idempotent: true}\n", "settings: {Net.MaxOpenRequests: 5}\n")
    option = "--set Producer.Idempotent=true"
    assert told(plain, Producer__Idempotent="true") == [
        (option, REQUESTS, "add --set Net.MaxOpenRequests=1"),
        (option, ACKS, "add --set Producer.RequiredAcks=WaitForAll"),
    ]
    acks = "--set Producer.RequiredAcks=WaitForLocal"
    assert told(
        plain, Producer__Idempotent="true", Producer__RequiredAcks="WaitForLocal", Net__MaxOpenRequests="1"
    ) == [
        (acks, ACKS, "write --set Producer.RequiredAcks=WaitForAll"),
    ]


def test_a_scenario_may_be_about_that_very_error() -> None:
    assert loads(SOURCE.replace("{do: connect}", "{do: connect, expect: failed}"), HERE).cells


def test_a_value_that_is_wrong_by_itself_is_all_that_is_said_at_first() -> None:
    with pytest.raises(Problems) as raised:
        loads(SOURCE.replace("true}", "true, Producer.RequiredAcks: All}"), HERE)
    assert [problem.code for problem in raised.value.problems] == ["setting-value"]
