"""Protects the Writer: batches, their order, callers that leave early, and what each release makes of them."""

import asyncio
from random import Random

import pytest
from kafka_go_lab import RELEASES, ROUND_TRIPS_S, V8, V9, V50, Lab, on_virtual_time

from client.profiles.kafka_go.balancer import BALANCERS
from client.profiles.kafka_go.config import WRITER, build_writer_config
from client.profiles.kafka_go.errors import GoError
from client.profiles.kafka_go.settings import CODECS, SETTINGS
from client.wire.compression import decompress
from client.wire.records import decode_batches
from harness.levers import DelayedResponse


def written(lab: Lab, topic: str = "orders") -> list[list[str]]:
    """The values in the log, batch by batch."""
    data = lab.logs.of(topic, 0).read(0, max_bytes=1 << 20, at_least_one=True)
    return [[(record.value or b"").decode() for record in batch.records] for batch in decode_batches(data)]


@pytest.mark.parametrize("version", RELEASES)
def test_concurrent_messages_share_a_batch(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchSize=2, Writer_BatchTimeout=0.5).connect()
        began_s = lab.loop.time()
        found = await asyncio.gather(*(program.send(value, partition=0) for value in ("a", "b", "c")))
        assert sorted(one["offset"] for one in found) == [0, 1, 2]
        assert lab.loop.time() - began_s == pytest.approx(0.5, abs=ROUND_TRIPS_S)
        assert [len(batch) for batch in written(lab)] == [2, 1], "in any order: they are sent at once"

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_a_batch_that_is_full_by_bytes_makes_room_for_the_next(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchBytes=100, Writer_BatchTimeout=0.5).connect()
        await asyncio.gather(*(program.send(value * 60, partition=0) for value in "ab"))
        assert sorted(written(lab)) == [["a" * 60], ["b" * 60]]
        too_large = 100 - 22 + (version != V50)
        error = (await program.ended(program.send("x" * too_large)))[1]
        assert error is not None
        assert error.name == "MessageTooLargeError"

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_batches_of_a_partition_are_written_in_turn_from_the_release_that_orders_them(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchSize=1).connect()
        await program.send("warm")
        with lab.answering("produce", DelayedResponse(seconds=2.0)):
            began_s = lab.loop.time()
            await asyncio.gather(*(program.send(value) for value in "ab"))
            in_turn = 2 if version == V50 else 1
            assert lab.loop.time() - began_s == pytest.approx(2.0 * in_turn, abs=ROUND_TRIPS_S)

    on_virtual_time(check, version)


@pytest.mark.parametrize("version", RELEASES)
def test_a_caller_whose_context_ends_leaves_a_batch_that_goes_on(version: str) -> None:
    """Issue 1427: the error was returned, and the message is in the log later."""

    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchTimeout=0.5).connect()
        await program.send("warm")
        took_s, error = await program.ended(program.send("late", deadline_s=0.2))
        assert took_s == pytest.approx(0.2)
        assert error is not None
        assert (error.name, error.text) == ("Timeout", "context deadline exceeded")
        await asyncio.sleep(1)
        assert written(lab) == [["warm"], ["late"]]
        assert len(lab.of("state", purpose="completion", outcome="written")) == 2

    on_virtual_time(check, version)


def test_an_async_writer_returns_at_once_and_says_later_what_became_of_it() -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_Async=True, Writer_BatchTimeout=0.5).connect()
        await program.send("warm")
        took_s, error = await program.ended(program.send("probe"))
        assert (took_s, error) == (0, None)
        assert not lab.of("state")
        await program.close()
        assert written(lab) == [["warm", "probe"]]
        assert len(lab.of("state", purpose="completion", outcome="written")) == 1

    on_virtual_time(check, V9)


def test_without_acknowledgements_a_message_can_be_lost_in_silence() -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_RequiredAcks="none", Writer_BatchTimeout=0.5).connect()
        assert await program.send("warm") == {}
        with lab.dark(1):
            took_s, error = await program.ended(program.send("probe"))
        assert error is None
        assert took_s == pytest.approx(0.5, abs=ROUND_TRIPS_S)

    on_virtual_time(check, V8)


@pytest.mark.parametrize("version", RELEASES)
def test_close_writes_what_is_waiting(version: str) -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program().connect()
        began_s = lab.loop.time()
        sending = asyncio.create_task(program.send("waiting"))
        await asyncio.sleep(0.1)
        await program.close()
        assert lab.loop.time() - began_s < 0.2
        assert (await sending)["offset"] == 0

    on_virtual_time(check, version)


@pytest.mark.parametrize(("producer", "text"), [(None, "a nil address"), ("NewWriter", "an empty list of brokers")])
def test_a_writer_without_addresses_is_refused_in_the_librarys_words(producer: str | None, text: str) -> None:
    async def check(lab: Lab) -> None:
        program = lab.program((), producer)
        error = (await program.ended(program.call("connect", "c")))[1]
        if error is None:
            error = (await program.ended(program.send("x")))[1]
        assert error is not None
        assert error.text.endswith(f"cannot create a kafka writer with {text}")

    on_virtual_time(check, V50)


def test_an_unknown_topic_fails_from_the_cache() -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program().connect()
        took_s, error = await program.ended(program.send("x", topic="nowhere"))
        assert error is not None
        assert error.name == "UnknownTopicOrPartition"
        assert error.text.startswith("[3] Unknown Topic Or Partition: ")
        assert took_s < ROUND_TRIPS_S

    on_virtual_time(check, V50)


def test_round_robin_goes_over_the_partitions() -> None:
    async def check(lab: Lab) -> None:
        program = await lab.program(Writer_BatchSize=1).connect()
        found = [(await program.send(f"{n}", topic="wide"))["partition"] for n in range(5)]
        assert found == [0, 1, 2, 0, 1]
        assert (await program.send("named", topic="wide", partition=2))["partition"] == 2

    on_virtual_time(check, V9)


# What v0.4.50 chose for these keys among 1000 partitions: Hash is Sarama's hash, and so on.
KEYS = (b"a", b"b", b"key", b"order-17", "ünï".encode(), b"0123456789abcdef", b"\xff\xfe\x80")
CHOSEN_BY_GO = [
    ("Hash", [76, 219, 28, 194, 526, 251, 688]),
    ("ReferenceHash", [572, 429, 28, 454, 526, 397, 688]),
    ("CRC32Balancer", [907, 681, 937, 420, 26, 11, 300]),
    ("Murmur2Balancer", [524, 796, 281, 961, 139, 52, 251]),
]


@pytest.mark.parametrize(("name", "chosen"), CHOSEN_BY_GO)
def test_keys_go_where_go_sends_them(name: str, chosen: list[int]) -> None:
    balancer = BALANCERS[name](Random(1))
    assert [balancer.balance(key, b"", 1000) for key in KEYS] == chosen


def test_least_bytes_fills_the_emptiest_partition() -> None:
    balancer = BALANCERS["LeastBytes"](Random(1))
    assert [balancer.balance(None, b"x" * size, 3) for size in (10, 1, 5, 1, 9)] == [0, 1, 2, 1, 1]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("size", [1, 300, 700_000])
def test_every_codec_takes_small_batches_and_large_ones(codec: str, size: int) -> None:
    settings = SETTINGS.resolve({"Writer.Compression": codec}, "0.4.50")
    compressor = build_writer_config(settings, WRITER).compressor
    assert decompress(compressor.codec, compressor.compress(b"x" * size)) == b"x" * size


def test_a_wrapped_error_is_known_by_its_value_and_not_by_its_type() -> None:
    assert GoError("protocol.Error", "correlation id mismatch").wrap("Produce").name == "fmt.wrapError"
    assert GoError("io.ErrUnexpectedEOF", "unexpected EOF").wrap("Produce").name == "io.ErrUnexpectedEOF"
