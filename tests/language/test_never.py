"""Protects steps that cannot be taken: those that wait for what never comes, and calls of a client that has ended."""

from pathlib import Path

import pytest

from harness.language import Problems, loads

SCENARIO = """
format: 1
scenario: never
about: Steps that are never taken.
client: {{profile: sarama, version: 1.27.2, bootstrap: [1]}}
cluster: {{brokers: 3, topics: [{{name: orders, replication: 3}}]}}
steps:
  - {{do: connect}}
{steps}
expect:
  - {{measure: connect.time_to_end, at_most: 5s}}
"""
SENT = "{do: send, as: earlier, expect: acknowledged}"
ARMED = "{inject: blackhole, as: outage, trigger: {request: produce, broker: 1}}"
AT_IT = "{do: send, as: probe, at: outage+1s}"
CLOSE = "{do: close}"


def problems(*steps: str) -> list[tuple[str, str]]:
    """The code, and what is underlined, of each."""
    text = SCENARIO.format(steps="\n".join(f"  - {step}" for step in steps))
    lines = text.splitlines()
    try:
        loads(text, Path("never.scenario.yaml"))
    except Problems as found:
        return [(one.code, lines[one.line - 1][one.column - 1 :][: one.length]) for one in found.problems]
    return []


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ((ARMED, AT_IT), ("endless-wait", "outage+1s")),
        ((SENT, ARMED, AT_IT), ("endless-wait", "outage+1s")),
        ((ARMED, "{heal: outage, at: outage}"), ("endless-wait", "outage")),
        ((ARMED, "{heal: outage}", "{do: send}", AT_IT), ("endless-wait", "outage+1s")),
        ((CLOSE, "{do: send}"), ("closed", "send")),
        ((CLOSE, "{inject: blackhole}", "{do: connect, as: again}"), ("closed", "connect")),
    ],
    ids=str,
)
def test_what_is_never_taken(steps: tuple[str, ...], problem: tuple[str, str]) -> None:
    assert problems(*steps) == [problem]


@pytest.mark.parametrize(
    "steps",
    [
        (ARMED, "{do: send}", AT_IT),
        (ARMED, "{do: send, background: true}", "{heal: outage, at: outage}"),
        ("{do: send, background: true}", ARMED, AT_IT),
        ("{do: send}", ARMED, AT_IT),
        (ARMED.replace("produce", "metadata"), AT_IT),
        ("{do: send}", CLOSE),
        ("{do: close, give_up_after: 1s}", "{do: send}"),
        ("{inject: blackhole}", CLOSE, "{do: send}"),
        ("{do: close, handle: one}", "{do: send}"),
    ],
    ids=str,
)
def test_what_may_be_taken(steps: tuple[str, ...]) -> None:
    assert problems(*steps) == []


def test_a_fault_that_comes_step_by_step_has_the_time_to_do_so() -> None:
    def limit_s(*steps: str) -> float:
        return (
            loads(SCENARIO.format(steps="\n".join(f"  - {one}" for one in steps)), Path("never.yaml")).cells[0].limit_s
        )

    leaving = "{inject: scale_down, brokers: [3]%s}"
    assert limit_s(leaving % ", election: 10m") == limit_s(leaving % "") + 600
