"""Protects short names of settings: two settings never have the same one, and Sarama's stay as short as they were."""

import pytest

from harness.records.short_names import parameters_text, short_names, subject_word, without_kind

LIBRDKAFKA = (
    "message.timeout.ms",
    "socket.timeout.ms",
    "socket.connection.setup.timeout.ms",
    "request.timeout.ms",
    "retry.backoff.ms",
    "retry.backoff.max.ms",
    "reconnect.backoff.ms",
    "reconnect.backoff.max.ms",
    "queue.buffering.max.kbytes",
    "queue.buffering.max.messages",
    "linger.ms",
    "acks",
)


def test_two_settings_never_share_a_short_name() -> None:
    short = short_names(LIBRDKAFKA)
    assert len(set(short.values())) == len(LIBRDKAFKA)
    assert all(name == end or name.endswith(f".{end}") for name, end in short.items())


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (("message.timeout.ms",), ["message.timeout.ms"]),
        (("message.timeout.ms", "socket.timeout.ms"), ["message.timeout.ms", "socket.timeout.ms"]),
        (("socket.connection.setup.timeout.ms",), ["setup.timeout.ms"]),
        (("a.setup.timeout.ms", "b.setup.timeout.ms"), ["a.setup.timeout.ms", "b.setup.timeout.ms"]),
        (("Producer.Retry.Max", "Net.DialTimeout"), ["Retry.Max", "Net.DialTimeout"]),
        (("Producer.Retry.Max", "Metadata.Retry.Max"), ["Producer.Retry.Max", "Metadata.Retry.Max"]),
        (("Retry.Max", "Producer.Retry.Max"), ["Retry.Max", "Producer.Retry.Max"]),
        (("acks", "linger.ms"), ["acks", "linger.ms"]),
    ],
)
def test_the_shortest_end_that_is_unique(settings: tuple[str, ...], expected: list[str]) -> None:
    assert [short_names(settings)[name] for name in settings] == expected


def test_a_setting_named_twice_is_one_setting() -> None:
    assert short_names(["Producer.Retry.Max", "Producer.Retry.Max"]) == {"Producer.Retry.Max": "Retry.Max"}


def test_parameters_lose_their_kind_and_lists_their_brackets() -> None:
    shown = parameters_text(
        [
            ("settings.Producer.Retry.Max", "1"),
            ("cluster.brokers", "3"),
            ("client.bootstrap", "[1, 2, 3]"),
            ("outage.for", "2s"),
        ]
    )
    assert shown == "Retry.Max=1 brokers=3 bootstrap=1,2,3 outage.for=2s"
    assert parameters_text([]) == ""


def test_parameters_whose_settings_end_alike_are_told_apart() -> None:
    shown = parameters_text([("settings.message.timeout.ms", "9000"), ("settings.socket.timeout.ms", "100")])
    assert shown == "message.timeout.ms=9000 socket.timeout.ms=100"


def test_the_kind_is_dropped_but_an_alias_stays() -> None:
    assert [without_kind(name) for name in ("settings.acks", "client.version", "outage.for", "acks")] == [
        "acks", "version", "outage.for", "acks",
    ]  # fmt: skip


def test_the_subject_of_a_setting_is_not_its_unit() -> None:
    assert [subject_word(name) for name in ("request.timeout.ms", "Net.ReadTimeout", "acks", "ms")] == [
        "timeout", "ReadTimeout", "acks", "ms",
    ]  # fmt: skip
