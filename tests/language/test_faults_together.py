"""Protects which faults may follow which: what an earlier one has taken away is refused, as long as that is certain."""

from pathlib import Path

import pytest

from harness.language import Problems, loads

SCENARIO = """
format: 1
scenario: together
about: One fault after the other.
client: {{profile: sarama, version: 1.27.2, bootstrap: [1]}}
cluster: {{brokers: 3, topics: [{{name: orders, replication: 3}}, {{name: bills, replication: 1}},
  {{name: fares, replication: 1, leaders: [2]}}]}}
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
NO_LEADER = "{inject: no_leader, partition: orders/0, as: gone}"
NO_TOPIC = "{inject: unknown_topic, topic: orders, as: gone}"
ABSENT = "{inject: scale_up, brokers: [3], as: gone}"
TWO_ABSENT = "{inject: scale_up, brokers: [2, 3], as: gone}"
TO_THE_ABSENT = "{inject: leader_move, partition: orders/0, to: 3, as: move}"
AT_PRODUCE = "trigger: {request: produce, broker: 1}"
KILL_AT_PRODUCE = "{inject: kill, brokers: [1], as: gone, trigger: {request: produce, broker: 1}}"


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
        (TWO_GONE, "{inject: scale_down, brokers: [1]}", "no-brokers-left", "1"),
        (GONE, "{inject: leader_move, partition: orders/0, to: 3}", "no-replica", "3"),
        (NO_TOPIC, "{inject: unknown_topic, topic: orders}", "unknown-topic", "orders"),
        (NO_TOPIC, "{inject: leader_move, partition: orders/0}", "unknown-topic", "orders/0"),
        (NO_TOPIC, "{inject: kill, brokers: ['leader(orders/0)']}", "unknown-topic", "'leader(orders/0)'"),
        ("{inject: kill, brokers: [1], as: gone}", "{inject: restart, brokers: [1]}", "broker-gone", "1"),
        (NO_LEADER, "{inject: kill, brokers: ['leader(orders/0)']}", "no-leader", "'leader(orders/0)'"),
        (
            NO_LEADER,
            "{inject: kill, brokers: 'leader(orders/0)', trigger: {request: metadata, broker: 1}}",
            "no-leader",
            "'leader(orders/0)'",
        ),
        (GONE, "{inject: scale_down, brokers: random(2)}", "no-brokers-left", "random(2)"),
        (
            GONE,
            "{inject: scale_down, brokers: [controller, 'leader(fares/0)']}",
            "no-brokers-left",
            "[controller, 'leader(fares/0)']",
        ),
        (
            TWO_GONE.replace("[2, 3]", "random(2)"),
            "{inject: scale_down, brokers: controller}",
            "no-brokers-left",
            "controller",
        ),
        (
            "{inject: scale_down, brokers: 'leader(orders/0)', as: gone}",
            "{inject: scale_down, brokers: [1]}",
            "broker-gone",
            "1",
        ),
        (
            "{inject: kill, brokers: 'leader(orders/0)', as: gone}",
            "{inject: restart, brokers: all}",
            "broker-gone",
            "all",
        ),
        ("{inject: kill, brokers: random(1), as: gone}", "{inject: pause, brokers: all}", "broker-gone", "all"),
        (
            "{inject: kill, brokers: all, as: gone}",
            "{inject: restart, brokers: 'leader(orders/0)'}",
            "broker-gone",
            "'leader(orders/0)'",
        ),
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
        ((ALL, "{inject: kill, brokers: others, as: again, trigger: {request: produce, broker: 1}}"), "others"),
        ((GONE.replace("as:", "every: 9s, times: 2, as:"), "{inject: scale_down, brokers: [3], as: again}"), "3"),
        ((KILL_AT_PRODUCE, "{do: send}", "{inject: pause, brokers: [1], at: gone}"), "1"),
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
        (KILL_AT_PRODUCE, "{do: send}", RESTART),
        (KILL_AT_PRODUCE, "{do: send}", "{heal: gone, at: gone}", RESTART),
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
        (NO_TOPIC.replace("as:", "for: 1s, as:"), "{do: send, as: between}", NO_LEADER.replace("gone", "lost")),
        (
            NO_TOPIC,
            "{inject: kill, brokers: 'leader(orders/0)', trigger: {request: produce, broker: 1}}",
            "{heal: gone}",
        ),
        (NO_LEADER, "{inject: leader_move, partition: orders/0, to: 1}", "{inject: kill, brokers: 'leader(orders/0)'}"),
        (NO_LEADER, RESTART, "{inject: kill, brokers: 'leader(orders/0)'}"),
        (ABSENT, TO_THE_ABSENT),
        (ABSENT.replace("as:", "for: 5s, as:"), TO_THE_ABSENT),
        (ABSENT.replace("as:", f"{AT_PRODUCE}, as:"), "{do: send, as: between}", TO_THE_ABSENT),
        (TWO_ABSENT, "{inject: scale_down, brokers: [1]}"),
        (TWO_ABSENT, "{inject: scale_down, brokers: [1], as: down}", "{heal: down}", "{heal: gone}"),
        (TWO_ABSENT.replace("as:", "for: 1s, as:"), "{inject: scale_down, brokers: [1], for: 500ms}"),
        ("{inject: scale_down, brokers: random(1)}", "{inject: scale_down, brokers: [1], as: again}"),
        ("{inject: kill, brokers: random(1)}", RESTART),
        (
            GONE.replace("as:", "trigger: {request: produce, broker: 1}, as:"),
            "{inject: scale_down, brokers: [3], as: again}",
        ),
    ],
    ids=str,
)
def test_what_may_be_possible_is_not_refused(steps: tuple[str, ...]) -> None:
    assert problems(*steps) == []


@pytest.mark.parametrize(
    ("steps", "code", "underlined", "hint"),
    [
        ((TO_THE_ABSENT, ABSENT), "no-replica", "3", "inject `gone` before"),
        (("{inject: scale_down, brokers: [3], as: down}", ABSENT), "broker-gone", "3", "inject `gone` before"),
        (("{inject: scale_down, brokers: [1], as: down}", TWO_ABSENT), "no-brokers-left", "1", "inject `gone` before"),
        ((ABSENT, "{heal: gone}", TO_THE_ABSENT), "no-replica", "3", "heal `gone` later"),
        ((ABSENT, ABSENT.replace("gone", "again")), "broker-gone", "3", "name another broker"),
        ((ABSENT, TWO_ABSENT.replace("gone", "again")), "broker-gone", "3", "name another broker"),
        ((ABSENT, ABSENT.replace("[3], as: gone", "[1, 2], as: again")), "no-brokers-left", "1", "leave one of them"),
    ],
    ids=str,
)
def test_who_joins_is_no_member_before(steps: tuple[str, ...], code: str, underlined: str, hint: str) -> None:
    assert problems(*steps) == [(code, underlined, hint)]


def test_a_healing_that_would_leave_nobody() -> None:
    steps = (TWO_ABSENT, "{inject: scale_down, brokers: [1], as: down}", "{do: send, as: between}", "{heal: gone}")
    assert problems(*steps) == [("no-brokers-left", "gone", "heal `down` before")]


def test_many_chances_are_not_looked_at_each() -> None:
    """A cluster of 99 brokers has too many: what cannot be known in time is let pass."""
    drawn = "{inject: scale_down, brokers: random(2), as: %s, for: 1s}"
    text = SCENARIO.format(steps="\n".join(f"  - {drawn % name}" for name in "abcdef")).replace(
        "brokers: 3,", "brokers: 99,"
    )
    assert loads(text, Path("together.scenario.yaml")).cells


def test_a_topic_may_be_created_again() -> None:
    steps = (NO_TOPIC, "{do: create_topics, name: orders}", NO_TOPIC.replace("gone", "again"))
    text = SCENARIO.format(steps="\n".join(f"  - {step}" for step in steps))
    assert loads(text.replace("sarama, version: 1.27.2", "kafka-go, version: 0.4.50"), Path("again.yaml")).cells
