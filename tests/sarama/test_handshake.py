"""Protects what happens on a new connection: who asks for API versions, what becomes of the answer, or of none."""

from collections.abc import Callable
from typing import Any

import pytest

from client.profiles.sarama.api_versions import restrict_api_version

R = 2.0
EXACT_S = 0.001
NEW = "1.60.1"


async def send(producer: Any) -> Any:
    return await producer.send("probe", "orders", 0, None, b"x")


def test_only_the_newer_release_asks(on_each_release: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        await send(await lab.connect())
        names = [(api, version) for _, api, version in lab.received_requests]
        if lab.version == NEW:
            asks = ("ApiVersions", 3)
            assert names == [asks, ("Metadata", 11), asks, ("Produce", 9)]
        else:
            assert names == [("Metadata", 5), ("Produce", 3)]

    on_each_release(check)


def test_nothing_is_asked_where_the_setting_says_so(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        lab.ranges = {0: (3, 5), 3: (0, 5)}
        await send(await lab.connect(ApiVersionsRequest=False, Version="2.3.0"))
        assert [(api, version) for _, api, version in lab.received_requests] == [("Metadata", 8), ("Produce", 7)]

    on_virtual_time(check, version=NEW)


def test_a_later_kafka_version_asks_with_version_4(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        await lab.connect(Version="4.0.0")
        assert lab.received_requests[0] == (1, "ApiVersions", 4)

    on_virtual_time(check, version=NEW)


def test_versions_are_restricted_to_what_the_broker_speaks(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        lab.ranges = {0: (3, 5), 3: (0, 4), 18: (0, 3)}
        assert (await send(await lab.connect())).offset == 0
        assert [(api, version) for _, api, version in lab.received_requests if api != "ApiVersions"] == [
            ("Metadata", 4),
            ("Produce", 5),
        ]

    on_virtual_time(check, version=NEW)


@pytest.mark.parametrize(
    ("ours", "theirs", "sent"),
    [(9, None, 9), (9, (0, 20), 9), (9, (0, 5), 5), (9, (7, 8), 8), (5, (7, 8), 5), (5, (5, 5), 5)],
)
def test_a_version_never_goes_above_ours(ours: int, theirs: tuple[int, int] | None, sent: int) -> None:
    assert restrict_api_version(ours, theirs) == sent


def test_an_old_broker_is_asked_again_with_what_it_allows(on_virtual_time: Callable[..., Any]) -> None:
    """Error 35 brings the range of ApiVersions, from Kafka 2.4 on; before, an empty list: then it is version 0."""

    async def check(lab: Any) -> None:
        lab.highest_api_versions = 1
        assert (await send(await lab.connect())).offset == 0
        assert [version for _, api, version in lab.received_requests if api == "ApiVersions"] == [3, 1] * 2
        lab.received_requests.clear()
        lab.highest_api_versions = None
        lab.refuses_api_versions_above_0 = True
        await lab.connect()
        assert [version for _, api, version in lab.received_requests if api == "ApiVersions"] == [3, 0]

    on_virtual_time(check, version=NEW)


def test_a_broker_that_is_silent_about_versions_alone_costs_two_read_timeouts(
    on_virtual_time: Callable[..., Any],
) -> None:
    async def check(lab: Any) -> None:
        lab.silent_apis = ("ApiVersions",)
        elapsed_s, error = await lab.timed(lab.connect())
        assert error is None
        assert elapsed_s == pytest.approx(2 * R, abs=EXACT_S)
        assert [(api, version) for _, api, version in lab.received_requests] == [
            ("ApiVersions", 3),
            ("ApiVersions", 0),
            ("Metadata", 11),
        ]
        assert lab.waited() == pytest.approx({"Net.ReadTimeout": 2 * R, "Net.DialTimeout": 0}, abs=EXACT_S)

    on_virtual_time(check, version=NEW)


def test_a_late_answer_is_taken_for_that_to_the_next_request(on_virtual_time: Callable[..., Any]) -> None:
    """Nobody looks at its correlation id during the handshake; the first ordinary answer then has the wrong one."""

    async def check(lab: Any) -> None:
        lab.delay_s = 1.2 * R
        elapsed_s, error = await lab.timed(lab.connect(Metadata_Retry_Max=0))
        # Version 3's answer comes at 1.2 R and cannot be read as version 0's; metadata get the second one's at 2.4 R.
        assert elapsed_s == pytest.approx(2.2 * R, abs=EXACT_S)
        assert error.text.startswith("kafka: client has run out of available brokers to talk to: kafka: error decoding")
        assert "correlation ID didn't match, wanted 2, got 1" in error.text

    on_virtual_time(check, version=NEW)


def test_a_connection_that_breaks_during_the_handshake_is_a_failed_dial(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        lab.drop_connection_once = True
        elapsed_s, error = await lab.timed(lab.connect())
        assert error is None
        assert elapsed_s == pytest.approx(0.25, abs=EXACT_S)  # the only seed failed: one pause
        assert len(lab.of("dial_started")) == 2
        closed = lab.of("connection_closed")
        assert closed[0]["error"] == "EOF" or "reset by peer" in str(closed[0]["error"])

    on_virtual_time(check, version=NEW)
