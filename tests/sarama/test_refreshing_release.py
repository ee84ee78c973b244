"""Protects what 1.60.1 hangs for: it refreshes metadata before it retries or gives up, and greets each connection.

The expected times are the upstream source's arithmetic; builds of the real client were measured at the same values.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from harness.levers import PacketAction

R, D, BP, BM, MU = 2.0, 1.0, 0.1, 0.25, 3
EXACT_S = 0.001
NEW = "1.60.1"


def refresh_s(connected: int, dialled: int, seeds: int) -> float:
    """One whole refresh: so many brokers answer nothing over open connections, so many are dialled in vain."""
    return connected * R + dialled * D + MU * (BM + seeds * D)


async def send(producer: Any, operation: str = "probe", value: bytes = b"x") -> Any:
    return await producer.send(operation, "orders", 0, None, value)


@pytest.mark.parametrize(
    ("brokers", "bootstrap", "retry_max", "expected_s", "dials"),
    [
        (1, (1,), 0, 8.75, 4),
        (1, (1,), 1, 13.6, 8),
        (1, (1,), 3, 13.6, 8),
        (3, (1,), 0, 10.75, 6),
        (3, (1,), 1, 15.6, 10),
        (3, (1, 2, 3), 1, 31.6, 26),
    ],
)
def test_established_blackhole(
    on_virtual_time: Callable[..., Any],
    brokers: int,
    bootstrap: tuple[int, ...],
    retry_max: int,
    expected_s: float,
    dials: int,
) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect_and_warm_up(bootstrap, Producer_Retry_Max=retry_max)
        with lab.packet_verdict(PacketAction.DROP):
            error = await lab.assert_send_fails(producer, after_s=expected_s)
        assert len(lab.of("dial_started")) == dials
        assert error.name == "net.OpError"  # the error is the first one, whatever came of the refresh
        assert error.text.startswith("read tcp 127.0.0.1:")
        assert error.text.endswith("->127.0.2.1:9092: i/o timeout")
        tries = [a["try_number"] for a in lab.of("attempt_ended", operation="probe")]
        assert tries == ([1, 2] if retry_max else [1])

    on_virtual_time(check, version=NEW, brokers=brokers)


@pytest.mark.parametrize("seeds", [1, 3])
def test_blackholed_bootstrap_says_what_each_broker_answered(on_virtual_time: Callable[..., Any], seeds: int) -> None:
    async def check(lab: Any) -> None:
        with lab.packet_verdict(PacketAction.DROP):
            elapsed_s, error = await lab.timed(lab.connect(tuple(range(1, seeds + 1))))
        assert elapsed_s == pytest.approx((MU + 1) * seeds * D + MU * BM, abs=EXACT_S)
        first, *more = error.text.splitlines()
        assert first.startswith("kafka: client has run out of available brokers to talk to: dial tcp 127.0.2.")
        assert len(more) == seeds - 1
        assert error.name == "ErrOutOfBrokers"

    on_virtual_time(check, version=NEW, brokers=3)


@pytest.mark.parametrize(("api_versions", "each_s"), [(True, 3 * R), (False, R)])
@pytest.mark.parametrize("retry_max", [0, 1])
def test_accepted_but_never_answered_costs_three_read_timeouts_a_connection(
    on_virtual_time: Callable[..., Any], retry_max: int, api_versions: bool, each_s: float
) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=retry_max, ApiVersionsRequest=api_versions)
        await send(producer, "warm_up")
        lab.silent = True
        elapsed_s, _ = await lab.timed(send(producer))
        first_refresh_s = each_s + R + MU * (BM + each_s)  # the leader anew, the seed's open connection, then seeds
        second_refresh_s = (MU + 1) * each_s + MU * BM
        expected_s = R + first_refresh_s + (BP + second_refresh_s if retry_max else 0)
        assert elapsed_s == pytest.approx(expected_s, abs=EXACT_S)

    on_virtual_time(check, version=NEW)


def test_later_messages_on_the_same_partition(on_virtual_time: Callable[..., Any]) -> None:
    """Without retries the abandoned broker is replaced after a pause; all that is left to dial are seeds."""

    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=0)
        await send(producer, "warm_up")
        with lab.packet_verdict(PacketAction.DROP):
            first_s, _ = await lab.timed(send(producer))
            second_s, second = await lab.timed(send(producer, "second"))
            third_s, _ = await lab.timed(send(producer, "third"))
        assert first_s == pytest.approx(R + refresh_s(connected=1, dialled=1, seeds=1), abs=EXACT_S)
        only_seeds_s = D + MU * (BM + D)
        assert second_s == pytest.approx(BP + only_seeds_s, abs=EXACT_S)
        assert second.name == "ErrOutOfBrokers"
        assert third_s == pytest.approx(BP + only_seeds_s, abs=EXACT_S)

    on_virtual_time(check, version=NEW)


@pytest.mark.parametrize("seed", range(6))
def test_leader_only_blackholed_while_metadata_still_names_it(on_virtual_time: Callable[..., Any], seed: int) -> None:
    """R + m*(Bp + D) + X*D, X of 0..m+1: a refresh asks whichever registered broker it meets first."""

    async def check(lab: Any) -> None:
        producer = await lab.connect((2,), Producer_Retry_Max=2)
        await send(producer, "warm_up")
        with lab.packet_verdict(PacketAction.DROP, 1):
            elapsed_s, error = await lab.timed(send(producer))
        extra = (elapsed_s - (R + 2 * (BP + D))) / D
        assert extra == pytest.approx(round(extra), abs=EXACT_S)
        assert 0 <= round(extra) <= 3
        assert error.text == "dial tcp 127.0.2.1:9092: i/o timeout"
        assert [a["try_number"] for a in lab.of("attempt_started", operation="probe")] == [1, 2, 3]

    on_virtual_time(check, version=NEW, brokers=3, seed=seed)


@pytest.mark.parametrize(("version", "round_trips"), [("1.27.2", 2), ("1.60.1", 3)])
def test_a_bootstrap_takes_a_dial_a_handshake_and_metadata(
    on_virtual_time: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, version: str, round_trips: int
) -> None:
    """With a latency of L each way: 4L before there was a handshake, 6L since; a steady send takes 2L."""
    latency_s = 0.15
    monkeypatch.setattr("harness.environments.sim.network.DELAY_S", latency_s)

    async def check(lab: Any) -> None:
        elapsed_s, _ = await lab.timed(lab.connect())
        assert elapsed_s == pytest.approx(2 * round_trips * latency_s, abs=EXACT_S)
        producer = await lab.connect()
        await send(producer, "warm_up")
        elapsed_s, _ = await lab.timed(send(producer))
        assert elapsed_s == pytest.approx(2 * latency_s, abs=EXACT_S)

    on_virtual_time(check, version=version)


def test_a_healed_outage_is_survived_by_the_batch_itself(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=1)
        await send(producer, "warm_up", b"before")

        async def outage() -> None:
            with lab.packet_verdict(PacketAction.DROP):
                await asyncio.sleep(R + D / 2)

        healing = asyncio.create_task(outage())
        await asyncio.sleep(0)
        elapsed_s, error = await lab.timed(send(producer, value=b"during"))
        await healing
        assert error is None
        # The dial's second SYN comes through, metadata are refreshed, and the batch goes to its leader after a pause.
        assert R + D / 2 < elapsed_s < R + 2 * D + BP
        assert [a["outcome"] for a in lab.of("attempt_ended")] == ["failed", "ok"]
        assert [value for *_, value in lab.log][:2] == [b"before", b"during"]

    on_virtual_time(check, version=NEW)


def test_a_later_message_does_not_overtake_a_batch_that_is_retried(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=3)
        await send(producer, "warm_up", b"warm")
        lab.drop_connection_once = True
        first = asyncio.create_task(send(producer, "first", b"1"))
        await asyncio.sleep(0.01)
        await asyncio.gather(*(send(producer, f"later-{n}", b"%d" % n) for n in (2, 3)), first)
        assert [value for *_, value in lab.log] == [b"warm", b"1", b"2", b"3"]

    on_virtual_time(check, version=NEW)


def test_batches_of_other_partitions_go_out_while_one_is_in_flight(on_virtual_time: Callable[..., Any]) -> None:
    """Five requests may be open; a partition has one of them at most."""

    async def check(lab: Any) -> None:
        producer = await lab.connect()
        for partition in range(3):
            await producer.send("warm", "orders", partition, None, b"w")
        lab.silent_apis = ("Produce",)
        lab.received_requests.clear()
        waiting = []
        for partition in (0, 0, 1, 1, 2, 2):
            waiting.append(asyncio.create_task(producer.send("s", "orders", partition, None, b"x")))
            await asyncio.sleep(0.01)
        assert [api for _, api, _ in lab.received_requests] == ["Produce"] * 3
        for task in waiting:
            task.cancel()

    on_virtual_time(check, version=NEW, leaders=(1, 1, 1))


def test_one_refresh_serves_all_who_want_it(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any, *, refreshes: int, **settings: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=0, **settings)
        for partition in range(3):
            await producer.send("warm", "orders", partition, None, b"w")
        lab.events.clear()
        lab.kill()
        sends = (producer.send(f"s{p}", "orders", p, None, b"x") for p in range(3))
        found = await asyncio.gather(*sends, return_exceptions=True)
        assert {error.name for error in found} == {"io.EOF"}
        assert len(lab.of("refresh_started", try_number=1)) == refreshes

    async def single(lab: Any) -> None:
        await check(lab, refreshes=1)

    async def each(lab: Any) -> None:
        await check(lab, refreshes=3, Metadata_SingleFlight=False)

    on_virtual_time(single, version=NEW, brokers=3, leaders=(1, 2, 3))
    on_virtual_time(each, version=NEW, brokers=3, leaders=(1, 2, 3))


def test_metadata_without_brokers_is_rejected(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        lab.advertised_brokers = ()
        elapsed_s, error = await lab.timed(lab.connect())
        assert error.name == "ErrOutOfBrokers"
        assert elapsed_s == pytest.approx(MU * BM, abs=EXACT_S)

    on_virtual_time(check, version=NEW)


def test_a_throttle_time_delays_the_next_request(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect()
        await send(producer, "warm_up")
        lab.throttle_ms = 300
        assert (await lab.timed(send(producer)))[0] < EXACT_S
        elapsed_s, _ = await lab.timed(send(producer, "throttled"))
        assert elapsed_s == pytest.approx(0.3 if lab.version == NEW else 0.0, abs=EXACT_S)
        assert lab.waited().get("throttle_time_ms", 0.0) == pytest.approx(elapsed_s, abs=EXACT_S)

    on_virtual_time(check, version=NEW)
    on_virtual_time(check)


def test_topic_errors_name_their_topics(on_virtual_time: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        lab.metadata = [5] * 100
        producer = await lab.connect()  # a topic without leader is no reason not to begin
        _, error = await lab.timed(send(producer))
        assert error.name == "ErrLeaderNotAvailable"
        assert error.text.startswith("orders: kafka server: In the middle of a leadership election")

    on_virtual_time(check, version=NEW)


def test_a_full_retry_buffer_gives_the_oldest_message_back(on_virtual_time: Callable[..., Any]) -> None:
    """The limit is 4096 at least; while a partition waits for its refresh, what is to be retried piles up."""

    async def check(lab: Any) -> None:
        producer = await lab.connect(
            Producer_Retry_Max=1, Producer_Retry_MaxBufferLength=1, Producer_Flush_Frequency=0.1, ChannelBufferSize=0
        )
        await send(producer, "warm_up")
        with lab.packet_verdict(PacketAction.DROP):
            first = asyncio.create_task(send(producer))
            await asyncio.sleep(0.5)
            sends = [asyncio.create_task(send(producer, f"s{n}")) for n in range(6000)]
            await asyncio.sleep(60)
        found = await asyncio.gather(first, *sends, return_exceptions=True)
        names = {error.name for error in found if isinstance(error, Exception)}
        assert "ErrProducerRetryBufferOverflow" in names

    on_virtual_time(check, version=NEW)
