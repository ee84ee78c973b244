"""Protects what a scenario may ask of kafka-go: what the library refuses is refused, and what it ignores is said."""

from pathlib import Path

import pytest

from harness.language import Problems, loads

SCENARIO = """\
format: 1
scenario: mine
about: x
client: {profile: kafka-go, version: 0.4.50, bootstrap: [1]}
settings: {Writer.RequiredAcks: all}
cluster: {brokers: 1, topics: [{name: orders}]}
steps:
  - {do: connect}
  - {do: send, as: probe}
expect:
  - {measure: probe.outcome, equals: ok}
"""
REFUSED = [
    ("bootstrap: [1]", "bootstrap: []", "range"),
    ("{do: connect}", "{do: connect, deadline: 1s}", "unknown-argument"),
    ("as: probe}", "as: probe, deadline: -1s}", "quantity"),
    ("as: probe}", "as: probe, topic: ''}", "unknown-topic"),
    ("RequiredAcks: all", "RequiredAcks: some", "setting-value"),
    ("RequiredAcks: all", "WriteTimeout: 1", "quantity"),
    ("RequiredAcks: all", "WriteTimout: 1s", "unknown-setting"),
    ("RequiredAcks: all", "MaxAttempts: 1.5", "setting-value"),
    ("version: 0.4.50", "version: 0.4.49", "unknown-version"),
    ("bootstrap: [1]}", "producer: Reader}", "unknown-producer"),
]


@pytest.mark.parametrize(("written", "instead", "code"), REFUSED)
def test_a_mistake_is_one_problem_at_its_place(written: str, instead: str, code: str) -> None:
    text = SCENARIO.replace(written, instead, 1)
    with pytest.raises(Problems) as caught:
        loads(text, Path("mine.scenario.yaml"))
    (problem,) = caught.value.problems
    assert problem.code == code


def test_a_number_counts_as_the_library_reads_it() -> None:
    """What is not above zero means the default, in formulas too."""
    given = (
        "Writer.WriteTimeout: -1s, Writer.MaxAttempts: 0, WriterConfig.RebalanceInterval: -1s, NetDialer.Timeout: -1s"
    )
    plan = loads(SCENARIO.replace("all}", f"all, {given}}}"), Path("mine.scenario.yaml")).cells[0]
    found = {one.name: (one.text, one.value) for one in plan.settings}
    assert found["Writer.WriteTimeout"] == ("10s", 10.0)
    assert found["Writer.MaxAttempts"] == ("10", 10.0)
    assert found["WriterConfig.RebalanceInterval"] == ("6s", 6.0), "the Transport's, not NewWriter's"
    assert found["NetDialer.Timeout"] == ("-1s", -1.0), "over before it begins"
