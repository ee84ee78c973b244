"""Protects the two producers over one pipeline: what a send's end is, several senders, brokers and codecs at once."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from sarama_program import Program
from sarama_program import connect as open_program

from client.errors import ClientError, SettingError
from client.profiles import profile
from harness.levers import PacketAction

EXACT_S = 0.001
RELEASES = ("1.27.2", "1.60.1")
PRODUCERS = ("sync", "async")


async def connect(lab: Any, name: str, **settings: Any) -> Program:
    given = {"Net.ReadTimeout": 2.0, "Net.DialTimeout": 1.0} | {n.replace("_", "."): v for n, v in settings.items()}
    return await open_program(lab.runtime, lab.version, given, [("127.0.2.1", 9092)], producer=name)


def test_a_producer_that_sarama_does_not_have_is_refused() -> None:
    sarama = profile("sarama")
    for name in (None, *PRODUCERS):
        sarama.check_producer(name)
    with pytest.raises(SettingError, match=r"^sarama has no producer asink, only sync, async$"):
        sarama.check_producer("asink")


@pytest.mark.parametrize("name", PRODUCERS)
@pytest.mark.parametrize("version", RELEASES)
def test_both_deliver(on_virtual_time: Callable[..., Any], version: str, name: str) -> None:
    async def check(lab: Any) -> None:
        producer = await connect(lab, name)
        found = await asyncio.gather(
            *(producer.send(f"s{n}", "orders", n % 3, b"k", b"%d" % n) for n in range(30))
        )  # fmt: skip
        assert [(f.partition, f.offset) for f in found] == [(n % 3, n // 3) for n in range(30)]
        await producer.close()
        assert sorted(int(value) for *_, value in lab.log) == list(range(30))

    on_virtual_time(check, version=version, brokers=3, leaders=(1, 2, 3))


@pytest.mark.parametrize("version", RELEASES)
def test_each_producer_reports_a_failure_in_its_form(on_virtual_time: Callable[..., Any], version: str) -> None:
    """SendMessage gives the cause; the Errors channel a ProducerError around it. The time is the same."""

    async def check(lab: Any) -> None:
        told = {}
        for name in PRODUCERS:
            producer = await connect(lab, name, Producer_Retry_Max=0)
            await producer.send("warm_up", "orders", 0, None, b"x")
            with lab.packet_verdict(PacketAction.DROP):
                told[name] = await lab.timed(producer.send("probe", "orders", 0, None, b"x"))
            await producer.close()
        (sync_s, sync), (async_s, asynchronous) = told["sync"], told["async"]
        assert sync_s == pytest.approx(async_s, abs=EXACT_S)
        assert asynchronous.name == sync.name == "net.OpError"
        assert sync.text.startswith("read tcp ")
        assert asynchronous.text.startswith("kafka: Failed to produce message to topic orders: read tcp ")

    on_virtual_time(check, version=version)


def test_many_senders_on_several_brokers_one_blackholed(on_each_release: Callable[..., Any]) -> None:
    """Partitions of the others are served as if nothing were; those of the dark one wait for their own broker alone."""

    async def check(lab: Any) -> None:
        producer = await lab.connect((1,), Producer_Retry_Max=0)
        await asyncio.gather(*(producer.send("warm", "orders", p, None, b"w") for p in range(3)))
        ends: dict[int, list[float]] = {0: [], 1: [], 2: []}

        async def one(number: int) -> None:
            partition = number % 3
            await asyncio.sleep(0.01 * number)
            began_s = lab.loop.time()
            try:
                await producer.send(f"s{number}", "orders", partition, None, b"x")
                assert partition != 1
            except ClientError:
                assert partition == 1
            ends[partition].append(lab.loop.time() - began_s)

        with lab.packet_verdict(PacketAction.DROP, 2):
            await asyncio.gather(*(one(number) for number in range(30)))
        assert max(ends[0] + ends[2]) < 0.01
        assert min(ends[1]) > 1.7
        assert len(ends[1]) == 10

    on_each_release(check, brokers=3, leaders=(1, 2, 3))


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_batches_are_compressed_as_the_settings_say(on_each_release: Callable[..., Any], codec: str) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Compression=codec, Version="2.1.0", Producer_Flush_Frequency=0.1)
        values = [b"%d " % n * 500 for n in range(20)]
        await asyncio.gather(*(producer.send(f"s{n}", "orders", 0, None, v) for n, v in enumerate(values)))
        assert {header.codec_name for header in lab.headers} == {codec}
        assert [value for *_, value in lab.log] == values
        size_bytes = sum(sent["bytes"] for sent in lab.of("request_sent", api="Produce"))
        assert (size_bytes < 2500) == (codec != "none")

    on_each_release(check)


def test_only_the_newer_release_says_the_highest_time_of_a_batch(on_each_release: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect()
        await producer.send("s", "orders", 0, None, b"x")
        (header,) = lab.headers
        assert header.max_timestamp_ms == (-1 if lab.version == "1.27.2" else header.base_timestamp_ms)

    on_each_release(check)


def test_flushing_by_bytes_and_at_most_so_many_messages(on_each_release: Callable[..., Any]) -> None:
    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Flush_Bytes=1000, Producer_Flush_Frequency=60.0)
        first = asyncio.create_task(producer.send("first", "orders", 0, None, bytes(100)))
        await asyncio.sleep(1)
        assert not first.done()
        await producer.send("large", "orders", 0, None, bytes(1000))
        await first
        assert len(lab.of("request_sent", api="Produce")) == 1
        await producer.close()
        lab.events.clear()
        producer = await lab.connect(Producer_Flush_MaxMessages=2, Producer_Flush_Frequency=0.5)
        lab.headers.clear()
        await asyncio.gather(*(producer.send(f"s{n}", "orders", 0, None, b"x") for n in range(7)))
        counts = [header.record_count for header in lab.headers]
        assert sum(counts) == 7
        assert max(counts) == 2

    on_each_release(check)


def test_metadata_of_topics_in_use_alone(on_each_release: Callable[..., Any]) -> None:
    """Without Metadata.Full the constructor asks nobody; the background asks for the topics that were used."""

    async def check(lab: Any) -> None:
        elapsed_s, error = await lab.timed(lab.connect(Metadata_Full=False))
        assert error is None
        assert elapsed_s == 0
        assert not lab.received_requests
        producer = await lab.connect(Metadata_Full=False, Metadata_RefreshFrequency=10.0)
        await asyncio.sleep(10.5)
        assert lab.of("state", purpose="background metadata update")[0]["error"] == (
            "kafka: no specific topics to update metadata"
        )
        await producer.send("s", "orders", 0, None, b"x")
        lab.events.clear()
        await asyncio.sleep(10)
        assert [r["outcome"] for r in lab.of("refresh_ended")] == ["ok"]
        await producer.close()

    on_each_release(check)


def test_the_breaker_opens_and_half_opens_between_sends(on_each_release: Callable[..., Any]) -> None:
    """Three failed look-ups open it, a call then costs the pause alone; ten seconds later one look-up may try."""

    async def check(lab: Any) -> None:
        producer = await lab.connect(Producer_Retry_Max=0)
        await producer.send("warm_up", "orders", 0, None, b"x")
        lab.kill()
        names = []
        for number in range(6):
            elapsed_s, error = await lab.timed(producer.send(f"s{number}", "orders", 0, None, b"x"))
            names.append(error.name)
        assert names == ["io.EOF"] + ["ErrOutOfBrokers"] * 3 + ["breaker.ErrBreakerOpen"] * 2
        assert elapsed_s == pytest.approx(0.1, abs=EXACT_S)
        await asyncio.sleep(10)
        states = [s["outcome"] for s in lab.of("state", purpose="breaker of orders/0")]
        assert states == ["half-open"]
        _, error = await lab.timed(producer.send("half-open", "orders", 0, None, b"x"))
        assert error.name == "ErrOutOfBrokers"
        _, error = await lab.timed(producer.send("open again", "orders", 0, None, b"x"))
        assert error.name == "breaker.ErrBreakerOpen"

    on_each_release(check)


def test_a_broker_that_died_unnoticed_is_replaced_by_a_refresh(on_virtual_time: Callable[..., Any]) -> None:
    """The kernel knows that the idle connection was reset; 1.60.1 asks it when metadata come, 1.27.2 never does."""

    async def check(lab: Any) -> None:
        producer = await lab.connect((2,), Producer_Retry_Max=0, Metadata_RefreshFrequency=1.0)
        await producer.send("warm_up", "orders", 0, None, b"x")
        lab.reset_connections(1)
        await asyncio.sleep(1.5)
        closed = lab.of("connection_closed", broker=1)
        assert bool(closed) == (lab.version == "1.60.1")
        elapsed_s, error = await lab.timed(producer.send("probe", "orders", 0, None, b"x"))
        if lab.version == "1.60.1":
            assert (error.name, elapsed_s) == ("ErrNotConnected", pytest.approx(0.0, abs=EXACT_S))
        else:
            assert error.text.endswith("connection reset by peer")

    for version in RELEASES:
        on_virtual_time(check, version=version, brokers=2)
