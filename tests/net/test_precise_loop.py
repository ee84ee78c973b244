"""Protects that two timers of the bundled client that are due within one millisecond do not fire together."""

import asyncio

from client.net import precise_loop

APART_S = 0.0004
PAIRS = 40


async def _steps_between() -> int:
    """How many of the pairs leave the first one a step before the second fires."""
    loop = asyncio.get_running_loop()
    between = 0
    for _ in range(PAIRS):
        noted: list[str] = []
        both = asyncio.Event()

        def first(noted: list[str] = noted) -> None:
            loop.call_soon(noted.append, "step")

        def second(noted: list[str] = noted, both: asyncio.Event = both) -> None:
            noted.append("second")
            both.set()

        # Off the loop's whole milliseconds, wherever those are.
        at = loop.time() + 0.00213
        loop.call_at(at, first)
        loop.call_at(at + APART_S, second)
        await both.wait()
        await asyncio.sleep(0)
        between += noted.index("step") < noted.index("second")
    return between


def test_a_timer_fires_before_another_one_is_due() -> None:
    precise = precise_loop.run(_steps_between())
    assert precise > asyncio.run(_steps_between())


def test_sockets_and_pipes_work_as_in_any_loop() -> None:
    async def echo() -> bytes:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readexactly(4))
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
            writer.write(b"ping")
            async with asyncio.timeout(5):
                found = await reader.read()
            writer.close()
            return found

    assert precise_loop.run(echo()) == b"ping"
