"""Protects sockets as the profiles see them: deadlines, errors by phase, and a trace that names each setting."""

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from client.golang import Dialer, go_error_text
from client.limit import Limit
from client.net.address import join_host_port, split_host_port
from client.net.connection import Connection
from client.net.errors import Cause, NetError, Phase, ResolveError
from client.net.resolver import TableResolver
from client.net.versions import ApiVersionRanges, NoCommonVersionError, negotiate
from client.wire.apis.api_versions import ApiVersion, ApiVersionsResponse

Listening = Callable[[Any], AbstractAsyncContextManager[int]]
DIAL = Limit(5.0, ("Net.DialTimeout",))
READ = Limit(0.05, ("Net.ReadTimeout",))
PATIENT = Limit(5.0, ("Net.ReadTimeout",))


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)


async def dial(traced: Any, port: int) -> Connection:
    return await Dialer(traced.runtime(), keep_alive_s=15).dial("127.0.0.1", port, broker=-1, limit=DIAL)


def test_what_was_written_is_read_back_and_only_real_waits_are_traced(traced: Any, listening: Listening) -> None:
    async def test() -> None:
        async with listening(echo) as port:
            connection = await dial(traced, port)
            await connection.send(b"abcdefgh", api="Metadata", correlation_id=7, limit=PATIENT, expects_response=True)
            assert await connection.read_full(3, limit=PATIENT, purpose="Metadata response") == b"abc"
            assert await connection.read_full(5, limit=PATIENT, purpose="Metadata response") == b"defgh"
            assert connection.on_response(8).correlation_id == 7
            assert not connection.in_flight
            connection.close()
            connection.close()

    asyncio.run(test())
    assert traced.kinds() == [
        "dial_started", "wait_started", "wait_ended", "dial_ended", "request_sent", "wait_started", "wait_ended",
        "response_received", "connection_closed",
    ]  # fmt: skip
    assert [w["outcome"] for w in traced.of("wait_ended")] == ["satisfied", "satisfied"]
    assert [w["waiting_on"] for w in traced.of("wait_started")] == ["Net.DialTimeout", "Net.ReadTimeout"]
    assert traced.of("dial_ended")[0]["outcome"] == "connected"


def test_a_read_ends_at_its_deadline(traced: Any, listening: Listening) -> None:
    async def test() -> float:
        loop = asyncio.get_running_loop()
        async with listening(silent) as port:
            connection = await dial(traced, port)
            started_at = loop.time()
            with pytest.raises(NetError) as caught:
                await connection.read_full(8, limit=READ, purpose="Produce response")
            elapsed = loop.time() - started_at
            assert (caught.value.phase, caught.value.cause) == (Phase.READ, Cause.TIMEOUT)
            assert go_error_text(caught.value).startswith("read tcp 127.0.0.1:")
            assert go_error_text(caught.value).endswith(f"->127.0.0.1:{port}: i/o timeout")
            connection.close("because")
            with pytest.raises(NetError, match="closed"):
                await connection.read_full(1, limit=READ, purpose="x")
            return elapsed

    assert asyncio.run(test()) >= READ.seconds
    assert [w["outcome"] for w in traced.of("wait_ended")] == ["satisfied", "elapsed"]
    assert traced.of("connection_closed")[0]["error"] == "because"


def test_bytes_in_pieces_count_against_one_deadline(traced: Any, listening: Listening) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for byte in b"abc":
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.02)
        await asyncio.Event().wait()

    async def test() -> None:
        async with listening(drip) as port:
            connection = await dial(traced, port)
            assert await connection.read_full(3, limit=PATIENT, purpose="x") == b"abc"
            with pytest.raises(NetError) as caught:
                await connection.read_full(3, limit=READ, purpose="x")
            assert caught.value.cause is Cause.TIMEOUT

    asyncio.run(test())


def test_the_peers_close_is_eof_and_in_the_middle_unexpected_eof(traced: Any, listening: Listening) -> None:
    async def close_after_two(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"ab")
        writer.close()

    async def test() -> None:
        async with listening(close_after_two) as port:
            connection = await dial(traced, port)
            with pytest.raises(NetError) as caught:
                await connection.read_full(4, limit=PATIENT, purpose="x")
            assert caught.value.cause is Cause.UNEXPECTED_EOF
            with pytest.raises(NetError) as caught:
                await connection.read_full(4, limit=PATIENT, purpose="x")
            assert caught.value.cause is Cause.EOF

    asyncio.run(test())


def test_after_the_peers_half_close_our_own_direction_stays_open(traced: Any, listening: Listening) -> None:
    got = []

    async def half_close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write_eof()
        got.append(await reader.readexactly(5))

    async def test() -> None:
        async with listening(half_close) as port:
            connection = await dial(traced, port)
            with pytest.raises(NetError) as caught:
                await connection.read_full(1, limit=PATIENT, purpose="x")
            assert caught.value.cause is Cause.EOF
            await connection.send(b"hello", api="Produce", correlation_id=7, limit=PATIENT, expects_response=False)
            while not got:
                await asyncio.sleep(0.001)

    asyncio.run(test())
    assert got == [b"hello"]


def test_a_reset_is_told_in_the_phase_in_which_it_is_noticed(traced: Any, listening: Listening) -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def test() -> None:
        async with listening(reset) as port:
            connection = await dial(traced, port)
            await connection.send(b"x", api="Produce", correlation_id=7, limit=PATIENT, expects_response=True)
            with pytest.raises(NetError) as caught:
                await connection.read_full(1, limit=PATIENT, purpose="x")
            assert (caught.value.phase, caught.value.cause) == (Phase.READ, Cause.RESET)
            with pytest.raises(NetError) as caught:
                await connection.send(b"y", api="Produce", correlation_id=7, limit=PATIENT, expects_response=True)
            assert caught.value.phase is Phase.WRITE

    asyncio.run(test())


def test_a_later_piece_finds_out_what_the_peer_answered_to_an_earlier_one(traced: Any, listening: Listening) -> None:
    """The kernel takes the first piece for a peer that is gone; its reset is there before the second one."""

    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def test() -> None:
        async with listening(leave) as port:
            connection = await dial(traced, port)
            with pytest.raises(NetError):
                await connection.read_full(1, limit=PATIENT, purpose="x")
            with pytest.raises(NetError) as caught:
                await connection.send(
                    bytes(3000), api="Produce", correlation_id=7, limit=PATIENT, expects_response=True, piece_bytes=1000
                )
            assert (caught.value.phase, caught.value.cause) == (Phase.WRITE, Cause.BROKEN_PIPE)

    asyncio.run(test())


def test_a_write_waits_for_the_kernel_and_its_deadline_counts(traced: Any, listening: Listening) -> None:
    async def test() -> None:
        async with listening(silent) as port:
            connection = await dial(traced, port)
            with pytest.raises(NetError) as caught:
                # More than the send buffer and the peer's reader take: 64 KiB are read ahead, the rest stays.
                await connection.send(
                    bytes(64 << 20),
                    api="Produce",
                    correlation_id=7,
                    limit=Limit(0.1, ("Net.WriteTimeout",)),
                    expects_response=True,
                )
            assert (caught.value.phase, caught.value.cause) == (Phase.WRITE, Cause.TIMEOUT)
            assert not connection.in_flight
            connection.close()

    asyncio.run(test())
    assert traced.of("wait_started")[-1]["waiting_on"] == "Net.WriteTimeout"
    assert traced.of("wait_ended")[-1]["outcome"] == "elapsed"
    assert "request_sent" not in traced.kinds()


def test_a_large_write_ends_when_the_peer_reads(traced: Any, listening: Listening) -> None:
    size = 32 << 20

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left = size
        while left:
            left -= len(await reader.read(1 << 20))
        writer.write(b"!")

    async def test() -> None:
        async with listening(swallow) as port:
            connection = await dial(traced, port)
            await connection.send(
                bytes(size),
                api="Produce",
                correlation_id=7,
                limit=Limit(30, ("Net.WriteTimeout",)),
                expects_response=True,
            )
            assert await connection.read_full(1, limit=Limit(30, ("Net.ReadTimeout",)), purpose="x") == b"!"

    asyncio.run(test())


def test_closing_wakes_a_reader(traced: Any, listening: Listening) -> None:
    async def test() -> None:
        async with listening(silent) as port:
            connection = await dial(traced, port)
            reading = asyncio.create_task(connection.read_full(1, limit=PATIENT, purpose="x"))
            await asyncio.sleep(0)
            connection.close()
            with pytest.raises(NetError) as caught:
                await reading
            assert caught.value.cause is Cause.CLOSED

    asyncio.run(test())


def test_a_closed_port_refuses(traced: Any) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        with pytest.raises(NetError) as caught:
            asyncio.run(dial(traced, port))
    assert go_error_text(caught.value) == f"dial tcp 127.0.0.1:{port}: connect: connection refused"
    assert traced.of("dial_ended")[0]["outcome"] == "refused"
    assert traced.of("wait_ended")[0]["outcome"] == "failed"


def test_a_dial_that_nobody_answers_ends_at_its_limit(traced: Any) -> None:
    """A listener whose accept queue is full drops SYNs: the only dark port that needs no rights."""

    async def test() -> tuple[int, NetError, float]:
        loop = asyncio.get_running_loop()
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            port = listener.getsockname()[1]
            dialer = Dialer(traced.runtime())
            started_at = loop.time()
            for _ in range(8):
                started_at = loop.time()
                try:
                    await dialer.dial("127.0.0.1", port, broker=3, limit=Limit(0.1, ("Net.DialTimeout",)))
                except NetError as error:
                    return port, error, loop.time() - started_at
            pytest.fail("eight connections in an accept queue of one")

    port, error, elapsed_s = asyncio.run(test())
    assert go_error_text(error) == f"dial tcp 127.0.0.1:{port}: i/o timeout"
    assert elapsed_s >= 0.1
    assert traced.of("dial_ended")[-1]["outcome"] == "timeout"
    assert traced.of("wait_ended")[-1]["outcome"] == "elapsed"


def test_a_name_without_address_fails_in_phase_resolve(traced: Any) -> None:
    async def test() -> None:
        with pytest.raises(ResolveError) as caught:
            await Dialer(traced.runtime()).dial("kafka.example", 9092, broker=-1, limit=DIAL)
        assert go_error_text(caught.value) == "dial tcp: lookup kafka.example: no such host"

    asyncio.run(test())


def test_every_address_of_a_name_is_tried(traced: Any, listening: Listening) -> None:
    async def test() -> None:
        runtime = traced.runtime()
        resolver = TableResolver({"kafka": ("127.0.0.9", "127.0.0.1")})
        async with listening(echo) as port:
            dialer = Dialer(type(runtime)(runtime.rng, resolver, runtime.tracer))
            connection = await dialer.dial("kafka", port, broker=-1, limit=DIAL)
            assert connection.address == f"127.0.0.1:{port}"

    asyncio.run(test())


@pytest.mark.parametrize(
    ("address", "expected"),
    [("127.0.2.1:9092", ("127.0.2.1", 9092)), ("[::1]:1", ("::1", 1)), ("kafka:9", ("kafka", 9))],
)
def test_addresses_are_taken_apart_and_put_together(address: str, expected: tuple[str, int]) -> None:
    assert split_host_port(address) == expected
    assert join_host_port(*expected) == address


@pytest.mark.parametrize("address", ["kafka", "kafka:", "kafka:x", ":9092", "::1:9092", "kafka:70000"])
def test_bad_addresses_are_refused_in_words(address: str) -> None:
    with pytest.raises(ValueError, match=r"port|host|colons"):
        split_host_port(address)


def test_negotiation_asks_lower_after_error_35() -> None:
    asked = []

    async def old_broker(version: int) -> ApiVersionsResponse:
        asked.append(version)
        ranges = (
            ApiVersion(api_key=18, min_version=0, max_version=2),
            ApiVersion(api_key=0, min_version=0, max_version=7),
        )
        return ApiVersionsResponse(error_code=35 if version > 2 else 0, api_keys=ranges)

    versions = asyncio.run(negotiate(old_broker, highest=4))
    assert asked == [4, 2]
    assert versions.choose(0, lowest=3, highest=9) == 7
    with pytest.raises(NoCommonVersionError, match="the broker speaks 0 to 7, we 8 to 9"):
        versions.choose(0, lowest=8, highest=9)
    with pytest.raises(NoCommonVersionError, match="no API 22"):
        versions.choose(22, lowest=0, highest=1)


def test_negotiation_falls_back_to_0_without_a_hint_and_refuses_what_stays_an_error() -> None:
    asked = []

    async def bare(version: int) -> ApiVersionsResponse:
        asked.append(version)
        return ApiVersionsResponse(error_code=35 if version else 0, api_keys=())

    assert asyncio.run(negotiate(bare, highest=3)) == ApiVersionRanges({})
    assert asked == [3, 0]

    async def broken(version: int) -> ApiVersionsResponse:
        return ApiVersionsResponse(error_code=-1, api_keys=())

    with pytest.raises(NoCommonVersionError, match="error -1"):
        asyncio.run(negotiate(broken, highest=3))


def test_versions_remember_both_ends() -> None:
    assert ApiVersionRanges({3: (1, 12)}).choose(3, lowest=0, highest=5) == 5
