"""Protects that one loop can poll several streams, as a selector does: readiness is signalled, and no call waits."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from client.net.errors import Cause, NetError
from client.net.stream import Stream
from client.net.tcp import connect

Listening = Callable[[Any], AbstractAsyncContextManager[int]]


class Selector:
    """Waits until one of its streams is ready or the time is up; what is ready, the caller finds out by asking."""

    def __init__(self) -> None:
        self._news = asyncio.Event()

    def register(self, stream: Stream) -> None:
        stream.on_ready = self._news.set

    async def poll(self, timeout_s: float) -> bool:
        """Whether something became ready before the time was up."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._news.wait()
        except TimeoutError:
            return False
        self._news.clear()
        return True


async def connected(port: int, selector: Selector) -> Stream:
    stream = await connect("127.0.0.1", port, deadline_at=None, keep_alive=None)
    selector.register(stream)
    return stream


async def greet_and_hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    name = await reader.readexactly(1)
    writer.write(b"hello " + name)
    await writer.drain()
    writer.close()


def test_one_loop_reads_several_streams_to_their_end(listening: Listening) -> None:
    async def main() -> None:
        async with listening(greet_and_hang_up) as port, asyncio.timeout(10):
            selector = Selector()
            streams = {name: await connected(port, selector) for name in (b"a", b"b")}
            got = dict.fromkeys(streams, b"")
            ended: dict[bytes, Cause] = {}
            for name, stream in streams.items():
                assert stream.read_available(100) == b""
                assert stream.try_write(name)
            while len(ended) < 2:
                assert await selector.poll(5)
                for name in [name for name in streams if name not in ended]:
                    try:
                        while chunk := streams[name].read_available(3):
                            got[name] += chunk
                    except NetError as error:
                        ended[name] = error.cause
            assert got == {b"a": b"hello a", b"b": b"hello b"}
            assert ended == {b"a": Cause.EOF, b"b": Cause.EOF}
            for stream in streams.values():
                stream.close()
                with pytest.raises(NetError, match="closed"):
                    stream.read_available(1)

    asyncio.run(main())


def test_a_poll_without_news_ends_with_its_timer(listening: Listening) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        async with listening(silent) as port:
            selector = Selector()
            stream = await connected(port, selector)
            assert not await selector.poll(0.05)
            stream.close()

    asyncio.run(main())


def test_room_for_writing_is_signalled(listening: Listening) -> None:
    size_bytes = 20 << 20

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        await reader.readexactly(size_bytes)
        await asyncio.Event().wait()

    async def main() -> None:
        async with listening(slow) as port, asyncio.timeout(10):
            selector = Selector()
            stream = await connected(port, selector)
            assert not stream.try_write(bytes(size_bytes))
            assert not stream.writable
            while not stream.writable:
                assert await selector.poll(5)
            assert stream.try_write(b"x")
            stream.close()

    asyncio.run(main())
