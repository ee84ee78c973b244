"""Protects that every mistake in a scenario is found before anything starts: at its place, with its code and a hint."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.language import Problems, condition_holds, loads, one_line, render, report
from harness.plan import RunPlan

PROBE = "{do: send, as: probe, give_up_after: 60s}"
EXPECT = "{measure: probe.time_to_error, equals: 2*Net.ReadTimeout, within: 1% + 50ms}"
SETTINGS = "Net.ReadTimeout: 2s"
CLUSTER = "cluster: {brokers: 1,"
TOPIC = "{name: orders, partitions: 1, replication: 1, leaders: [1]}"
MATRIX = "\nmatrix:\n  "


def equals(formula: str) -> tuple[str, str]:
    return ("2*Net.ReadTimeout", formula)


# fmt: off
MISTAKES = [
    # what is written, what replaces it, code, underlined, part of message, part of hint
    (("scenario: ", "scenario: My-"), "name", "My-", "not spelt as this has to be", "small letters and digits"),
    (("as: outage", "as: my-outage"), "name", "my-outage", "not spelt as this", "letters, digits and _ may follow"),
    (("name: orders", "name: örders"), "name", "örders", "not spelt as this has to be", "without accents"),
    (("as: probe,", "as: probe, at: +4s,"), "name", "+4s", "not spelt as this", "outage+4s"),
    (("about: A scenario to be changed by tests.", "about:"), "empty-value", "about", "has no value", "write one"),
    (("inject: blackhole,", "inject: error_answer, code: not_leader,"),
     "name", "not_leader", "not spelt as this has to be", "such as NOT_LEADER_OR_FOLLOWER"),
    (("inject: blackhole,", "inject: error_answer, code: 6,"),
     "type", "6", "a text is wanted", "such as NOT_LEADER_OR_FOLLOWER"),
    (("  - {do: connect}\n", ""), "not-connected", "send", "no step before this one connects", "add - {do: connect}"),
    (("as: probe,", "as: probe, deadline: 6s,"), "no-deadline", "deadline",
     "the send of sarama takes no deadline: neither SendMessage nor Input takes a context", "remove `deadline`"),
    (("as: outage", "as: outage, every: 10s"), "step", "every", "alone does not say", "add times: 6"),
    (("as: outage", "as: outage, times: 6"), "step", "times", "alone does not say", "add every: 10s"),
    (("as: outage", "as: outage, for: 12s, every: 10s, times: 6"), "step", "10s", "before it is healed", "longer"),
    (("as: probe,", "as: probe, after: {uniform: [2s, 1s]},"), "step", "[2s, 1s]", "the longer one", "[0s, 1s]"),
    ((EXPECT, "{measure: probe.time_to_error, at_most: 61s}"),
     "cannot-fail", "61s", "`probe` is given up after 1m", "a bound that a measurement can miss"),
    ((EXPECT, "{measure: probe.time_to_error, at_least: 0s}"), "cannot-fail", "0s", "never below 0", "can miss"),
    ((EXPECT, EXPECT.replace("1% + 50ms", "1000s")), "cannot-fail", "1000s", "given up after 1m", "can miss"),
    ((EXPECT, "{share: 'probe.outcome == \"ok\"', at_most: 1, within: 0.01}"),
     "cannot-fail", "1", "between 0 and 1", "can miss"),
    (("about: A", "abuot: A"), "unknown-key", "abuot", "no key `abuot`", "did you mean about?"),
    (("tags: [test]", "tags: [test]\ntags: [again]"), "duplicate-key", "tags", "first on line 4", "remove"),
    ((SETTINGS, "Net.ReadTimeout: 1:30"), "yaml-value", "1:30", "not a time", "write 1m30s"),
    ((SETTINGS, "Net.ReadTimeout: on"), "yaml-value", "on", "not a switch", "write true"),
    ((SETTINGS, "Metadata.Full: on"), "yaml-value", "on", "not a switch", "write true"),
    ((SETTINGS, "Net.ReadTimeout: 2"), "quantity", "2", "not a duration", "2s or 2ms"),
    ((SETTINGS, "Net.ReadTimeout: [2s]"), "setting-value", "[2s]", "one value", "30s"),
    ((SETTINGS, "Net.ReadTimeout:"), "empty-value", "Net.ReadTimeout", "has no value", "remove the key"),
    ((SETTINGS, "Net.ReadTimeout: 0s"), "setting-value", "0s", "must be > 0", ""),
    ((SETTINGS, "Net.ReadTimeout: -2s"), "setting-value", "-2s", "must be > 0", ""),
    ((SETTINGS, "Net.ReadTimeout: --2s"), "quantity", "--2s", "not a duration", "250ms"),
    ((SETTINGS, "Producer.Idempotent: 'true'"), "setting-value", "'true'", "not a text", "true without quotes"),
    ((SETTINGS, f"{SETTINGS}, Producer.Flush.Messages: 3, Producer.Flush.MaxMessages: 2"), "setting-conflict", "2",
     "Producer.Flush.MaxMessages must be >= Producer.Flush.Messages", "write Producer.Flush.MaxMessages: 3"),
    ((SETTINGS, f"{SETTINGS}, Producer.Compression: zstd"), "setting-conflict", "Producer.Compression",
     "zstd compression requires Version >= V2_1_0_0", "add Version: 2.1.0; where this error is what is tested"),
    ((SETTINGS, "Net.MaxOpenRequests: '5'"), "setting-value", "'5'", "not a text", "5 without quotes"),
    ((SETTINGS, "Net.ReadTimeuot: 2s"), "unknown-setting", "Net.ReadTimeuot", "sarama has no", "Net.ReadTimeout?"),
    (("Retry.Max: 1", "Retry.Max: one"), "setting-value", "one", "a whole number", "3"),
    (("Retry.Max: 1", "Retry.Max: true"), "setting-value", "true", "a whole number", "3"),
    ((SETTINGS, "Metadata.Full: 1"), "setting-value", "1", "true or false", "true"),
    ((SETTINGS, "Producer.RequiredAcks: WaitForAl"), "setting-value", "WaitForAl", "is one of", "WaitForAll?"),
    (("version: 1.27.2", "version: 1.27.3"), "unknown-version", "1.27.3", "never rounded", "1.27.2"),
    (("version: 1.27.2,", "version: 1.27.2, producer: asink,"),
     "unknown-producer", "asink", "sarama has no producer", "one of sync, async"),
    (("version: 1.27.2", "version: 1.27"), "type", "1.27", "a text is wanted", "'1.27'"),
    (("version: 1.27.2", "version: 1.20"), "type", "1.20", "not `1.20`", "'1.20'"),
    (("profile: sarama, version: 1.27.2", "profile: samara, version: 1.27.2"),
     "unknown-profile", "samara", "no profile", "sarama?"),
    (("profile: sarama", "profil: sarama"), "unknown-key", "profil", "no key", "profile?"),
    (("version: 1.27.2", "verison: 1.27.2"), "unknown-key", "verison", "no key", "version?"),
    (("profile: sarama, version: 1.27.2,", "version: 1.27.2,"), "client", "{", "a client is", "add profile"),
    (("inject: blackhole", "inject: blackhol"), "unknown-fault", "blackhol", "no fault", "blackhole?"),
    (("brokers: all, as", "borkers: all, as"), "unknown-parameter", "borkers", "no parameter", "brokers?"),
    (("brokers: all, as", "brokers: [1, 4], as"), "no-such-broker", "4", "no broker 4", "the only broker is 1"),
    (("brokers: all, as", "brokers: none, as"), "selector", "none", "selects no brokers", "write all"),
    (("brokers: all, as", "brokers: [1, others], as"), "selector", "[1, others]", "stand alone", "write all"),
    (("brokers: all, as", "brokers: leader(oders/0), as"),
     "unknown-topic", "leader(oders/0)", "no topic", "orders?"),
    (("brokers: all, as", "brokers: [leader(orders/1)], as"),
     "unknown-partition", "leader(orders/1)", "no partition 1", "0 to 0"),
    (("brokers: all, as", "brokers: random(2), as"), "no-such-broker", "random(2)", "not 2 brokers", "at most 1"),
    (("brokers: all, as", "brokers: [1, random(1)], as"), "no-such-broker", "random(1)", "not 1", "all are named"),
    (("inject: blackhole,", "inject: latency, delay: 5,"), "quantity", "5", "not a duration", "5s or 5ms"),
    ((PROBE, f"{PROBE}\n  - {{inject: kill, as: dead}}\n  - {{inject: pause, brokers: [1], as: still}}"),
     "broker-gone", "1", "has no process then", "heal `dead` before"),
    ((PROBE, f"{PROBE}\n  - {{inject: unknown_topic, topic: orders, as: gone}}\n"
             "  - {inject: no_leader, partition: orders/0, as: lost}"),
     "unknown-topic", "orders/0", "`gone` is in force", "heal `gone` before"),
    (("inject: blackhole,", "inject: silence, api: prodoce,"),
     "unknown-api", "prodoce", "no API", "did you mean produce?"),
    (("inject: blackhole,", "inject: silence, api: gossip,"), "unknown-api", "gossip", "no API", "one of"),
    (("inject: blackhole,", "inject: blackhole, trigger: {request: prodoce, broker: 1},"),
     "unknown-api", "prodoce", "no API", "did you mean produce?"),
    (("inject: blackhole,", "inject: old_broker, highest: {produce: 3, metdata: 1},"),
     "unknown-api", "metdata", "no API", "did you mean metadata?"),
    (("inject: blackhole,", "inject: error_answer, code: NOT_LEADER,"),
     "unknown-error", "NOT_LEADER", "no error", "did you mean NOT_LEADER_OR_FOLLOWER?"),
    (("inject: blackhole,", "inject: scale_down, then: foreign, election: 1s,"), "scale_down", "{", "at once", "leave"),
    (("as: outage}", "as: outage, every: 1us, times: 3}"), "range", "1us", "too small", "at least 1ms"),
    (("as: outage}", "as: outage, every: 1s, times: 1000000}"), "range", "1000000", "too large", "at most 10000"),
    (("inject: blackhole,", "inject: error_answer, code: NONE,"), "unknown-error", "NONE", "no error", ""),
    (("  - {do: connect}\n", "  - {do: connect, expect: failed}\n"), "not-connected", "send", "", "connect"),
    (("inject: blackhole,", "inject: bandwidth, rate: 5,"), "quantity", "5", "no rate of bytes", "64KB/s"),
    (("inject: blackhole,", "inject: reset_peer, timeout: 9s,"), "toxic", "9s", "too long", "at most 5s"),
    (("inject: blackhole,", "inject: blackhole, trigger: {request: produce, broker: 4},"),
     "no-such-broker", "4", "no broker 4", "the only broker is 1"),
    (("inject: blackhole,", "inject: latency,"), "missing-key", "{", "`delay` is missing", "add delay"),
    (("do: send", "do: sned"), "unknown-operation", "sned", "no operation", "send?"),
    (("as: probe,", "as: probe, toipc: orders,"), "unknown-argument", "toipc", "send has no argument", "topic?"),
    (("as: probe,", "as: probe, topic: oders,"), "unknown-topic", "oders", "no topic", "orders?"),
    (("as: probe,", "as: probe, partition: 1,"), "unknown-partition", "1", "no partition 1", "0 to 0"),
    (("as: probe,", "as: probe, expect: acknowleged,"), "unknown-value", "acknowleged", "", "acknowledged?"),
    ((PROBE, PROBE + "\n  - {do: close, as: outage}"), "duplicate-alias", "outage", "two steps", "another name"),
    (("as: probe,", "as: probe, after: soon,"), "quantity", "soon", "not a duration", "1s"),
    (("as: probe,", "as: probe, at: outge+4s,"), "unknown-alias", "outge+4s", "no earlier step", "outage?"),
    (("as: probe,", "as: probe, at: outage+4,"), "quantity", "outage+4", "not a duration", "4s"),
    (("as: outage}\n  - {do: send,", "as: outage, every: 10s, times: 3}\n  - {do: send, at: outage#3+2s,"),
     "occurrence", "outage#3+2s", "first occurrence", "write at: outage+22s"),
    (("as: outage}\n  - {do: send,", "as: outage, every: 10s, times: 3}\n  - {do: send, at: outage#4,"),
     "unknown-alias", "outage#4", "no earlier step", "outage?"),
    ((PROBE, f"{PROBE.replace('60s', '60s, every: 1s, until: failed')}\n  - {{heal: outage, at: probe#2}}"),
     "occurrence", "probe#2", "last call", "write at: probe"),
    ((PROBE, f"{PROBE}\n  - {{heal: outage, at: probe#2}}"), "unknown-alias", "probe#2", "no earlier step", "probe?"),
    (("as: outage}", "as: outage, every: 10s, times: 3}\n  - {heal: outage#2}"),
     "occurrence", "outage#2", "as a whole", "write heal: outage"),
    ((PROBE, f"{PROBE}\n  - {{heal: outage#2}}"), "unknown-alias", "outage#2", "no earlier fault", "outage?"),
    ((PROBE, f"{PROBE}\n  - {{heal: outge}}"), "unknown-alias", "outge", "no earlier fault", "outage?"),
    ((PROBE, f"{PROBE}\n  - {{heal: probe}}"), "unknown-alias", "probe", "not a fault", "outage"),
    ((PROBE, f"{PROBE}\n  - {{heal: outage}}\n  - {{heal: outage}}"), "healed-twice", "outage", "already", "remove"),
    ((PROBE, f"{PROBE}\n  - {{injct: refuse}}"), "step", "{injct", "a step has one of", "did you mean inject?"),
    (("bootstrap: [1]", "bootstrap: [1, 2]"), "no-such-broker", "2", "no broker 2", "the only broker"),
    (("bootstrap: [1]", "bootstrap: []"), "range", "[]", "empty", "at least one"),
    (("leaders: [1]", "leaders: [2]"), "no-such-broker", "2", "no broker 2", "the only broker"),
    (("leaders: [1]", "leaders: [1, 1]"), "leaders", "[1, 1]", "2 leaders for 1", "each partition"),
    (("replication: 1", "replication: 2"), "no-such-broker", "2", "need 2 brokers", "has 1"),
    (("name: orders", "name: .."), "name", "..", "not spelt", "neither . nor .."),
    (("name: orders", "name: ."), "name", ".", "not spelt", "neither . nor .."),
    (("name: orders", "name: " + 250 * "a"), "range", 250 * "a", "", "249"),
    ((CLUSTER, "cluster: {brokers: 0,"), "range", "0", "too small", "at least 1"),
    ((CLUSTER, "cluster: {brokers: 100,"), "range", "100", "`100` is too large", "at most 99"),
    (("inject: blackhole,", "inject: drop, chance: 0%,"), "range", "0%", "`0%` is too small", "more than 0%"),
    (("inject: blackhole,", "inject: drop, chance: 150%,"), "range", "150%", "`150%` is too large", "at most 100%"),
    (("inject: blackhole,", "inject: reorder, chance: 100%,"), "range", "100%", "`100%` is too", "less than 100%"),
    (("inject: blackhole,", "inject: slow_answer, delay: 0s,"), "range", "0s", "`0s` is too small", "more than 0s"),
    (("inject: blackhole,", "inject: slicer, average_size: 0B,"), "range", "0B", "`0B` is too", "more than 0B"),
    (("as: outage", "as: outage, every: 0s, times: 2"), "range", "0s", "`0s` is too small", "at least 1ms"),
    (("as: outage", "as: outage, every: 1s, times: 1"), "range", "1", "`1` is too small", "at least 2"),
    (("inject: blackhole,", "inject: timeout, toxicity: 0,"), "range", "0", "`0` is too small", "more than 0"),
    (("inject: blackhole,", "inject: timeout, toxicity: 50%,"), "type", "50%", "a number is wanted", "write 0.5"),
    (("inject: blackhole,", "inject: timeout, toxicity: 150%,"), "type", "150%", "a number is wanted", "at most 1"),
    (("inject: blackhole,", "inject: timeout, toxicity: half,"), "type", "half", "a number is wanted", "such as 0.5"),
    (("inject: blackhole,", "inject: timeout, toxicity: [1],"), "type", "[1]", "a number is wanted", "such as 0.5"),
    (("inject: blackhole,", "inject: slow_broker, delay: 1s, chance: 50%,"), "type", "50%", "a number", "write 0.5"),
    (("inject: blackhole,", "inject: drop, chance: 0.5,"), "quantity", "0.5", "no", "write 50%"),
    (("inject: blackhole,", "inject: drop, chance: 1,"), "quantity", "1", "no", "write 1% or 100%"),
    (("as: probe,", "as: probe, after: {uniform: [1s]},"), "range", "[1s]", "1 is too few", "write at least 2"),
    (("as: probe,", "as: probe, after: {uniform: []},"), "range", "[]", "empty", "write at least 2"),
    (("as: probe,", "as: probe, after: {uniform: [1s, 2s, 3s]},"), "range", "[1s", "too long", "at most 2"),
    (("brokers: all, as", "brokers: null, as"), "empty-value", "brokers", "has no value", "write one"),
    (("brokers: all, as", "brokers: true, as"), "selector", "true", "`true` selects no brokers", "write all"),
    (("inject: blackhole,", "inject: latency, delay: [null],"), "quantity", "[null]", "a list", ""),
    (("inject: blackhole,", "inject: slow_dial, delays: [null],"), "quantity", "null", "`null` is not", ""),
    (("measure: probe.", "measure: prob."), "unknown-alias", "prob", "no step is called", "probe?"),
    (("time_to_error", "time_to_eror"), "unknown-measure", "time_to_eror", "no measure", "time_to_error?"),
    (("probe.time_to_error", "probe"), "unknown-measure", "probe", "not spelt", "probe.time_to_error"),
    (("probe.time_to_error", "connect.time_to_ack"), "unfit-measure", "connect.time_to_ack", "of send", "time_to_end"),
    (("probe.time_to_error", "probe.waited"), "unknown-measure", "probe.waited", "takes a setting", "("),
    (("probe.time_to_error", "probe.waited(Net.ReadTime)"),
     "unknown-name", "Net.ReadTime", "nothing", "Net.ReadTimeout?"),
    (equals("2*Net.ReadTimeuot"), "unknown-name", "Net.ReadTimeuot", "nothing is called", "Net.ReadTimeout?"),
    (equals("Retry.Max*1s"), "ambiguous-name", "Retry.Max", "could be Metadata.Retry.Max or", "write Metadata"),
    (equals("Net.ReadTimeout + 3"), "unit", "Net.ReadTimeout", "cannot be added", "write its unit"),
    (equals("Net.ReadTimeout * Net.DialTimeout"), "unit", "Net.ReadTimeout", "multiplied", "add them"),
    (equals("2 * 3"), "unit", "2 * 3", "the measure is a duration", "write a unit"),
    (equals("cluster.brokers"), "unit", "cluster.brokers", "the formula a number", "multiply"),
    (equals("Net.ReadTimeout / 0"), "unit", "Net.ReadTimeout", "the divisor is 0", ""),
    (equals("1s +"), "formula", "", "no formula", ""),
    (equals("__import__('os')"), "unknown-name", "__import__", "no function", ""),
    (equals("'{Net.DialTimeout.real}'"), "formula", "{Net.DialTimeout.real}", "no meaning", "formulas know"),
    (equals("formula(nothing_such)"), "unknown-formula", "formula(nothing_such)", "no formula", ""),
    (equals("formula(established_blackhol)"),
     "unknown-formula", "formula(established_blackhol)", "", "established_blackhole"),
    (("within: 1% + 50ms", "withn: 1%"), "unknown-key", "withn", "no key", "within?"),
    ((", within: 1% + 50ms", ""), "missing-within", "equals", "needs a tolerance", "within: 1% + 50ms"),
    (("within: 1% + 50ms", "within: 50"), "quantity", "50", "not a duration", "50s or 50ms"),
    ((EXPECT, "{measure: probe.dials, equals: 4, within: 50ms}"), "unit", "50ms", "no time", "0.08"),
    ((EXPECT, "{measure: probe.outcome, equals: oke}"), "unknown-value", "oke", "never `oke`", "ok"),
    ((EXPECT, "{measure: probe.outcome, equals: acknowledged}"), "unknown-value", "acknowledged", "never", "write ok"),
    ((EXPECT, "{measure: probe.outcome, at_most: ok}"), "expectation", "at_most", "one of ok", "equals: ok"),
    ((EXPECT, "{measure: probe.outcome, equals: ok, within: 1}"), "expectation", "within", "no tolerance", "remove"),
    ((EXPECT, "{mean: probe.outcome, equals: 1, within: 1}"), "unfit-measure", "probe.outcome", "a word", "share:"),
    ((EXPECT, "{measure: probe.time_to_error, between: [1s, 2]}"), "unit", "2", "this end a number", ""),
    ((EXPECT, "{measure: probe.time_to_error, between: [2s, 1s]}"), "range", "[", "not above", "[least, most]"),
    ((EXPECT, "{measure: probe.time_to_error, between: [1s, 2s], at_most: 1s}"),
     "expectation", "between", "at_most and between", "write one of"),
    (("equals: 2*Net.ReadTimeout,", ""), "expectation", "{", "nothing says", "equals"),
    (("equals: 2*", "at_most: 1s, equals: 2*"), "expectation", "at_most", "equals and at_most", "write one of"),
    (("equals: 2*", "claim: 2*"), "missing-source", "claim", "needs the text", "add source"),
    (("equals: 2*", "holds: true, equals: 2*"), "claim", "holds", "belongs to a claim", "claim"),
    (("equals: 2*", "when: Net.ReadTimeout, equals: 2*"),
     "unit", "Net.ReadTimeout", "`when` is a condition", "compare"),
    (("equals: 2*", "when: Net.ReadTimeout > 1, equals: 2*"), "unit", "Net.ReadTimeout", "compared", "1s or 1ms"),
    (("format: 1", "format: 2"), "format", "2", "this faultlab reads format 1, not 2", "upgrade faultlab if it was"),
    (("format: 1", "format: 2"), "format", "2", "this faultlab reads format 1, not 2", "if not, write format: 1"),
    (("format: 1", "format: one"), "format", "one", "this faultlab reads format 1, not `one`", "write format: 1"),
    (("format: 1", "format: 0"), "format", "0", "this faultlab reads format 1, not 0", "write format: 1"),
    (("format: 1\n", ""), "missing-key", "s", "`format` is missing", "add format"),
    (("about: A scenario to be changed by tests.", "about: [a]"), "type", "[a]", "a text is wanted", ""),
    (("tags: [test]", "tags: test"), "type", "test", "a list is wanted", "[...]"),
    (("cluster: {", "cluster: x #{"), "type", "x", "a mapping is wanted", "key: value"),
    ((EXPECT, EXPECT + MATRIX + "settings.Net.ReadTimeout: [1s, 2]"), "quantity", "2", "not a duration", "2s or 2ms"),
    ((EXPECT, EXPECT + MATRIX + "settings.Net.Raed: [1s]"), "unknown-setting", "Net.Raed", "no setting", "Net."),
    ((EXPECT, EXPECT + MATRIX + "setting.Net.ReadTimeout: [1s]"),
     "unknown-path", "setting.Net.ReadTimeout", "names nothing", "settings.Net.ReadTimeout?"),
    ((EXPECT, EXPECT + MATRIX + "outage.depth: [1]"),
     "unknown-parameter", "depth", "blackhole has no", "one of brokers, flows"),
    ((EXPECT, EXPECT + MATRIX + "cluster.brokers: [1, x]"), "type", "x", "a whole number", ""),
    ((EXPECT, EXPECT + MATRIX + "client.bootstrap: [[1], [7]]"), "no-such-broker", "7", "no broker 7", "only broker"),
    ((EXPECT, EXPECT + MATRIX + "cluster.brokers: 3"), "type", "3", "holds a list", "[1, 3]"),
    ((EXPECT, EXPECT + "\nmatrix: 3"), "type", "3", "or a list of rows", "write"),
    ((EXPECT, EXPECT + "\nmatrix: [{cluster.brokers: 1}, {cluster.brokers: 1}]"),
     "duplicate-row", "cluster.brokers", "alike", "remove"),
    (("steps:\n", "steps:\n\t- {do: close}\n"), "tab", "\t", "a tab", "spaces"),
    (("tags: [test]", "tags: [test"), "yaml", "", "not YAML", ""),
    (("tags: [test]", "tags: !!python/name:os.system [test]"), "yaml", "", "tags are not used", "remove"),
    (("tags: [test]", "tags: *nowhere"), "unknown-anchor", "*", "undefined alias", "&name"),
]
# fmt: on


@pytest.mark.parametrize(("change", "code", "underlined", "message", "hint"), MISTAKES)
def test_mistake(
    changed: Callable[..., object], change: tuple[str, str], code: str, underlined: str, message: str, hint: str
) -> None:
    scenario = changed(change)
    problem = scenario.only()
    assert problem.code == code, problem
    assert message in problem.message
    assert hint in problem.hint
    if underlined:
        assert scenario.underlined(problem).startswith(underlined), scenario.underlined(problem)


def test_no_wording_of_the_library_is_shown(changed: Callable[..., object]) -> None:
    problem = changed(("inject: blackhole,", "inject: old_broker,")).only()
    assert problem.message.startswith("says no versions")


def test_all_mistakes_come_at_once_in_the_order_of_the_file(changed: Callable[..., object]) -> None:
    scenario = changed(
        ("about: A", "abuot: A"),
        ("Net.ReadTimeout: 2s", "Net.Raed: 2s"),
        ("brokers: all, as", "brokers: [9], as"),
        ("probe.time_to_error", "prob.time_to_eror"),
        ("2*Net.ReadTimeout, within", "Net.Raed, withn"),
    )
    problems = scenario.problems()
    codes = [problem.code for problem in problems]
    assert codes == [
        "unknown-key", "unknown-setting", "no-such-broker", "unknown-alias", "unknown-measure",
        "unknown-name", "unknown-key",
    ]  # fmt: skip
    assert [p.line for p in problems] == sorted(p.line for p in problems)


def test_a_wrong_trigger_hides_no_other_mistake_of_its_step(changed: Callable[..., object]) -> None:
    wrong = (
        "inject: blackhole, brokers: all,",
        "inject: blackhole, brokers: [9], dely: 1s, trigger: {request: produce},",
    )
    codes = {problem.code for problem in changed(wrong).problems()}
    assert {"no-such-broker", "unknown-parameter", "missing-key"} <= codes


def test_a_mistake_in_one_expectation_hides_no_other_one_that_cannot_fail(changed: Callable[..., object]) -> None:
    wrong = f"""{{measure: probe.dials, claim: 3}}
  - {EXPECT.replace("1% + 50ms", "1000s")}
  - {{measure: probe.time_to_eror, at_least: 0s}}
  - {{measure: probe.time_to_error, at_least: 0s}}"""
    problems = changed((EXPECT, wrong)).problems()
    assert [problem.code for problem in problems] == ["missing-source", "cannot-fail", "unknown-measure", "cannot-fail"]


def test_a_wrong_key_of_a_step_hides_no_wrong_argument(changed: Callable[..., object]) -> None:
    wrong = ("do: send, as: probe", "do: send, as: probe, background: perhaps, partitoin: 1, size: many")
    codes = {problem.code for problem in changed(wrong).problems()}
    assert {"type", "unknown-argument", "quantity"} <= codes


def test_names_that_kafka_does_not_have_come_with_all_other_mistakes(changed: Callable[..., object]) -> None:
    scenario = changed(
        ("about: A", "abuot: A"),
        ("inject: blackhole, brokers: all,",
         "inject: error_answer, brokers: all, api: prodoce, code: NOT_LEADER, trigger: {request: fetsh, broker: 1},"),
        ("cluster: {brokers: 1,", "cluster: {brokers: 3,"),
    )  # fmt: skip
    problems = scenario.problems()
    assert [(problem.code, scenario.underlined(problem)) for problem in problems] == [
        ("unknown-key", "abuot"), ("unknown-api", "prodoce"), ("unknown-error", "NOT_LEADER"), ("unknown-api", "fetsh"),
    ]  # fmt: skip


def test_both_operands_of_a_unit_error_are_underlined(changed: Callable[..., object]) -> None:
    scenario = changed(("2*Net.ReadTimeout", "Net.ReadTimeout + Producer.Retry.Max"))
    shown = render(scenario.only(), scenario.text)
    marks = shown.splitlines()[-1]
    line = shown.splitlines()[-2]
    first, second = line.index("Net.ReadTimeout + "), line.index("Producer.Retry.Max")
    assert marks[first : first + 15] == "^" * 15
    assert marks[second : second + 18] == "^" * 18
    assert marks[first + 15 : second].strip() == ""


def test_the_first_line_stands_alone_and_the_rest_shows_the_place(changed: Callable[..., object]) -> None:
    scenario = changed(("Producer.Retry.Max: 1", "Producer.Retry.Maxx: 1"))
    problem = scenario.only()
    assert one_line(problem) == (
        "scenarios/sarama/test.scenario.yaml:6:76: error[unknown-setting]: sarama has no setting Producer.Retry.Maxx"
    )
    assert render(problem, scenario.text).splitlines()[1:] == [
        "  |",
        "6 | settings: {Net.DialTimeout: 1s, Net.ReadTimeout: 2s, Net.WriteTimeout: 3s, Producer.Retry.Maxx: 1}",
        "  |" + " " * 76 + "^^^^^^^^^^^^^^^^^^^ did you mean Producer.Retry.Max?",
    ]


def test_a_formula_folded_over_lines_is_underlined_where_it_stands(changed: Callable[..., object]) -> None:
    scenario = changed(
        ("- {measure: probe.time_to_error, equals: 2*Net.ReadTimeout, within: 1% + 50ms}",
         "- measure: probe.time_to_error\n    within: 50ms\n    equals: >-\n      2*Net.ReadTimeout\n      + Net.Dail"),
    )  # fmt: skip
    problem = scenario.only()
    assert (problem.line, scenario.underlined(problem)) == (17, "Net.Dail")


def test_long_lines_and_control_characters_are_shown_safely(changed: Callable[..., object]) -> None:
    scenario = changed(("about: A", "about: " + "x" * 300 + "\u202e"), ("tags: [test]", 'tags: [test, "a\\e[31m"]'))
    problems = scenario.problems()
    text = report(Problems(problems, {problems[0].path: scenario.text}))
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert all(len(line) < 180 for line in text.splitlines())


def test_an_alias_bomb_is_refused_quickly(changed: Callable[..., object]) -> None:
    bomb = "&a [x,x,x,x,x,x,x,x,x,x]"
    for name, before in zip("bcdefgh", "abcdefg", strict=True):
        bomb += f", &{name} [{','.join([f'*{before}'] * 10)}]"
    assert changed(("tags: [test]", f"tags: [{bomb}]")).only().code == "too-large"
    assert changed(("tags: [test]", "tags: &a [*a]")).only().code == "too-deep"
    assert changed(("tags: [test]", "tags: " + "[" * 3000)).only().code == "too-deep"


def test_a_mistake_in_formulas_yaml_is_shown_there(tmp_path: Path, changed: Callable[..., object]) -> None:
    (tmp_path / "formulas.yaml").write_text(
        "format: 1\nformulas:\n  mine:\n    about: x\n    sum:\n      - {term: 1s, meaning: a}\n"
        "      - {term: 2*Net.ReadTimeuot, meaning: b}\n    source: here\n"
    )
    text = changed(("2*Net.ReadTimeout", "formula(mine)")).text
    text += "matrix:\n  settings.Producer.Retry.Max: [0, 1]\n"  # the second case meets what the first has found
    with pytest.raises(Problems) as caught:
        loads(text, tmp_path / "a.scenario.yaml")
    (problem,) = caught.value.problems
    assert (problem.path.name, problem.line, problem.column) == ("formulas.yaml", 7, 18)
    assert "did you mean Net.ReadTimeout?" in report(caught.value)


def test_a_formula_without_its_file_is_missed_where_it_is_cited(tmp_path: Path, changed: Callable[..., object]) -> None:
    text = changed(("2*Net.ReadTimeout", "formula(mine)")).text
    with pytest.raises(Problems) as caught:
        loads(text, tmp_path / "a.scenario.yaml")
    (problem,) = caught.value.problems
    assert (problem.path.name, problem.line, problem.code) == ("a.scenario.yaml", 13, "unknown-formula")
    assert problem.message == (
        "there is no formula `mine`: looked in formulas.yaml beside this file (there is none)"
        " and in the formulas bundled for sarama"
    )


def test_formulas_yaml_of_a_newer_faultlab_is_not_read_on(tmp_path: Path, changed: Callable[..., object]) -> None:
    (tmp_path / "formulas.yaml").write_text("format: 2\nformulas:\n  mine: {of: a newer kind}\n")
    text = changed(("2*Net.ReadTimeout", "formula(mine)")).text
    with pytest.raises(Problems) as caught:
        loads(text, tmp_path / "a.scenario.yaml")
    (problem,) = caught.value.problems
    assert (problem.path.name, problem.line, problem.column, problem.code) == ("formulas.yaml", 1, 9, "format")
    assert problem.hint.startswith("upgrade faultlab")


def test_a_formula_s_condition_may_speak_of_the_formula_itself(tmp_path: Path, changed: Callable[..., object]) -> None:
    def cell(condition: str) -> RunPlan:
        (tmp_path / "formulas.yaml").write_text(
            "format: 1\nformulas:\n  mine:\n    about: x\n"
            f"    holds_when: {condition}\n    sum:\n      - {{term: 2*Net.ReadTimeout, meaning: a}}\n"
            "      - {term: Net.DialTimeout, meaning: b}\n    source: here\n"
        )
        return loads(text, tmp_path / "a.scenario.yaml").cells[0]

    text = changed(("2*Net.ReadTimeout", "formula(mine)")).text
    for condition, holds in (("sum < 1h", True), ("Producer.Retry.Max >= 0 and 3*sum < 3s", False)):
        plan = cell(condition)
        when = next(e.when for e in plan.expectations if e.when and "2*Net.ReadTimeout + Net.DialTimeout" in e.when)
        assert condition_holds(when, plan) is holds
    for condition, place, said in (
        ("sum < 3", (5, 17), "unit"), ("sums < 3s", (5, 17), "unknown-name"), ("sum.x < 3s", (5, 17), "unknown-name"),
    ):  # fmt: skip
        with pytest.raises(Problems) as caught:
            cell(condition)
        (problem,) = caught.value.problems
        assert (problem.path.name, problem.line, problem.column, problem.code) == ("formulas.yaml", *place, said)


def test_a_deadline_of_an_operation_without_that_argument_is_one_problem(changed: Callable[..., object]) -> None:
    with_close = changed(
        ("as: probe, give_up_after: 60s}", "as: probe, give_up_after: 60s}\n  - {do: close, deadline: 1s}")
    )
    assert [problem.code for problem in with_close.problems()] == ["unknown-argument"]  # type: ignore[attr-defined]
