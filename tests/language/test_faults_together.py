"""Protects which faults may follow which: what an earlier one has taken away is refused, as long as that is certain."""

from pathlib import Path

import pytest

from harness.language import Problems, loads

SCENARIO = """
format: 1
scenario: together
about: One fault after the other.
client: {{profile: sarama, version: 1.27.2, bootstrap: [1]}}
cluster: {{brokers: 3, topics: [{{name: orders, replication: 3}}, {{name: bills, replication: 1}}]}}
steps:
  - {{do: connect}}
{steps}
  - {{do: send, as: probe, give_up_after: 60s}}
expect:
  - {{measure: probe.time_to_error, at_most: 5s}}
"""
GONE = "{inject: scale_down, brokers: [3], as: gone}"
ALL = "{inject: blackhole, brokers: all, as: gone}"
KILLED = "{inject: kill, brokers: [1], for: 1s, as: gone}"
OTHERS = "{inject: pause, brokers: others}"
RESTART = "{inject: restart, brokers: [1]}"
TWO_GONE = "{inject: scale_down, brokers: [2, 3], as: gone}"
NO_TOPIC = "{inject: unknown_topic, topic: orders, as: gone}"
ABSENT = "{inject: scale_up, brokers: [3], as: gone}"


def problems(*steps: str) -> list[tuple[str, str, str]]:
    """The code, what is underlined, and the hint of each."""
    text = SCENARIO.format(steps="\n".join(f"  - {step}" for step in steps))
    lines = text.splitlines()
    try:
        loads(text, Path("together.scenario.yaml"))
    except Problems as found:
        return [(one.code, lines[one.line - 1][one.column - 1 :][: one.length], one.hint) for one in found.problems]
    return []


@pytest.mark.parametrize(
    ("earlier", "later", "code", "underlined"),
    [
        (GONE, "{inject: scale_down, brokers: [2, 3], as: again}", "broker-gone", "3"),
        (GONE, "{inject: scale_up, brokers: [3], as: again}", "broker-gone", "3"),
        (ABSENT, "{inject: scale_up, brokers: [2, 3], as: again}", "broker-gone", "3"),
        (TWO_GONE, "{inject: scale_down, brokers: [1]}", "no-brokers-left", "1"),
        (GONE, "{inject: leader_move, partition: orders/0, to: 3}", "no-replica", "3"),
        (NO_TOPIC, "{inject: unknown_topic, topic: orders}", "unknown-topic", "orders"),
        (NO_TOPIC, "{inject: leader_move, partition: orders/0}", "unknown-topic", "orders/0"),
        (NO_TOPIC, "{inject: kill, brokers: ['leader(orders/0)']}", "unknown-topic", "'leader(orders/0)'"),
        ("{inject: kill, brokers: [1], as: gone}", "{inject: restart, brokers: [1]}", "broker-gone", "1"),
    ],
)
def test_a_fault_that_an_earlier_one_makes_impossible(earlier: str, later: str, code: str, underlined: str) -> None:
    assert problems(earlier, later) == [(code, underlined, "heal `gone` before")]
    assert problems(earlier, "{do: send, as: between}", later) == [(code, underlined, "heal `gone` before")]


@pytest.mark.parametrize(
    ("steps", "underlined"),
    [
        ((ALL, OTHERS), "others"),
        ((ALL, "{do: send, as: between}", OTHERS), "others"),
        ((ALL.replace("all", "[1, 2, 3]"), OTHERS), "others"),
        ((ALL, ALL.replace("gone", "again"), OTHERS), "others"),
        ((ALL.replace("as:", "for: 1s, as:"), OTHERS), "others"),
        ((ALL.replace("as:", "for: 1s, as:"), OTHERS.replace("others", "others, after: 900ms")), "others"),
        ((ALL.replace("as:", "every: 9s, times: 2, as:"), OTHERS), "others"),
        ((KILLED, RESTART), "1"),
        ((KILLED, "{inject: pause, brokers: [1, 2], at: gone+900ms}"), "1"),
        ((KILLED.replace("for: 1s", "every: 9s, times: 2"), RESTART), "1"),
        ((KILLED.replace("for: 1s, ", ""), KILLED.replace("for: 1s, as: gone", "as: again"), RESTART), "1"),
    ],
    ids=str,
)
def test_a_fault_that_finds_no_broker_left(steps: tuple[str, ...], underlined: str) -> None:
    code = "no-such-broker" if underlined == "others" else "broker-gone"
    assert problems(*steps) == [(code, underlined, "heal `gone` before")]


@pytest.mark.parametrize(
    "steps",
    [
        (ALL, "{heal: gone}", OTHERS),
        (ALL.replace("as:", "for: 1s, as:"), "{do: send, as: between}", OTHERS),
        (ALL.replace("as:", "for: 1s, as:"), OTHERS.replace("others", "others, after: 1s")),
        (ALL.replace("as:", "for: 1s, as:"), OTHERS.replace("others", "others, after: {uniform: [0s, 2s]}")),
        (ALL.replace("as:", "trigger: {request: produce, broker: 1}, as:"), OTHERS),
        (ALL, OTHERS.replace("others", "others, trigger: {request: produce, broker: 1}"), "{heal: gone}"),
        (ALL.replace("all", "[1, 2]"), OTHERS),
        (ALL.replace("all", "controller"), OTHERS),
        (GONE, ALL.replace("gone", "dark"), "{heal: gone}", OTHERS),
        (GONE.replace("as:", "for: 1s, as:"), ALL.replace("gone", "dark"), "{do: send, as: between}", OTHERS),
        (GONE.replace("[3]", "controller"), ALL.replace("gone", "dark"), "{heal: gone}", OTHERS),
        (KILLED, "{do: send, as: between}", RESTART),
        (KILLED, "{inject: blackhole}", RESTART),
        (KILLED, RESTART.replace("[1]", "[2]")),
        (KILLED, RESTART.replace("[1]", "[2, 1]")),
        (KILLED, RESTART.replace("[1]", "[1], after: 1s")),
        (KILLED, "{heal: gone}", RESTART),
        (GONE, "{heal: gone}", "{inject: scale_down, brokers: [3], as: again}"),
        (ABSENT, "{inject: scale_down, brokers: [3], as: again}"),
        (GONE, "{inject: blackhole, brokers: [3]}"),
        (GONE, "{inject: kill, brokers: [3]}"),
        (GONE, "{inject: old_broker, brokers: [3], release: kafka-2.3}"),
        (GONE, "{inject: scale_down, brokers: [2]}"),
        (NO_TOPIC, "{inject: no_leader, partition: bills/0}"),
        (NO_TOPIC, "{heal: gone}", "{inject: no_leader, partition: orders/0}"),
        (NO_TOPIC.replace("as:", "for: 1s, as:"), "{inject: no_leader, partition: orders/0}"),
        (GONE.replace("as:", "every: 9s, times: 2, as:"), "{inject: scale_down, brokers: [3], as: again}"),
        (
            GONE.replace("as:", "trigger: {request: produce, broker: 1}, as:"),
            "{inject: scale_down, brokers: [3], as: again}",
        ),
        ("{inject: scale_down, brokers: ['leader(orders/0)']}", "{inject: scale_down, brokers: [1], as: again}"),
    ],
    ids=str,
)
def test_what_may_be_possible_is_not_refused(steps: tuple[str, ...]) -> None:
    assert problems(*steps) == []
