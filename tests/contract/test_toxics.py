"""Protects that every toxic does on simulated connections what Toxiproxy's own does on real ones."""

import asyncio

import pytest
from toolkit import ADDRESS, UPSTREAM, Served, Toolkit, now_s, serve, since

from harness.levers import Flow

Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]
PAUSE_S = 0.1
TRIP_S = 0.0001
"""At most, from one end through a proxy without toxics to the other in the simulation."""


async def dialled(served: Served) -> tuple[Peer, Peer]:
    near = await asyncio.open_connection(*ADDRESS)
    return near, await served.peer()


async def is_open(reader: asyncio.StreamReader) -> bool:
    """Whether nothing comes, no end either, for a moment."""
    try:
        async with asyncio.timeout_at(now_s() + PAUSE_S):
            await reader.read(1)
    except TimeoutError:
        return True
    return False


async def test_bandwidth_passes_a_chunk_in_parts_of_100_ms(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        (_, writer), (far_reader, _far) = await dialled(served)
        await proxy.add("bandwidth", "to_broker", rate=10)
        began_s = now_s()
        writer.write(bytes(2_500))
        for bytes_s in (0.1, 0.2, 0.25):
            await far_reader.readexactly(1_000 if bytes_s < 0.25 else 500)
            assert bytes_s - 0.003 <= since(began_s) <= bytes_s + kit.slack_s


async def test_bandwidth_is_each_connections_own_and_ends_with_its_removal(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        toxic = await proxy.add("bandwidth", "to_client", rate=1)
        (reader, writer), (far_reader, far_writer) = await dialled(served)
        began_s = now_s()
        writer.write(bytes(5_000))
        await far_reader.readexactly(5_000)
        assert since(began_s) < kit.slack_s
        far_writer.write(bytes(60_000))
        await reader.readexactly(100)
        assert since(began_s) >= 0.097
        began_s = now_s()
        await proxy.remove(toxic)
        await reader.readexactly(59_900)
        assert since(began_s) < 5 + kit.slack_s


async def test_slow_close_delays_the_end_and_nothing_else(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        await proxy.add("slow_close", "to_broker", delay=400)
        (_, writer), (far_reader, _far) = await dialled(served)
        began_s = now_s()
        writer.write(b"last")
        writer.close()
        assert await far_reader.readexactly(4) == b"last"
        assert since(began_s) < kit.slack_s
        assert await far_reader.read() == b""
        assert 0.397 <= since(began_s) <= 0.4 + kit.slack_s


async def test_removing_slow_close_ends_what_it_holds(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        toxic = await proxy.add("slow_close", "to_broker", delay=60_000)
        (_, writer), (far_reader, _far) = await dialled(served)
        writer.close()
        assert await is_open(far_reader)
        began_s = now_s()
        await proxy.remove(toxic)
        assert await far_reader.read() == b""
        assert since(began_s) < kit.slack_s


async def test_timeout_swallows_and_closes_so_long_after_the_last_bytes(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        (reader, writer), (far_reader, _far) = await dialled(served)
        await proxy.add("timeout", "to_broker", timeout=300)
        await asyncio.sleep(0.2)
        began_s = now_s()
        writer.write(b"lost")
        assert await far_reader.read() == b""
        assert 0.297 <= since(began_s) <= 0.3 + kit.slack_s
        assert await reader.read() == b""


async def test_timeout_of_0_closes_with_its_removal_alone(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        toxic = await proxy.add("timeout", "to_broker", timeout=0)
        (reader, writer), (far_reader, _far) = await dialled(served)
        writer.write(b"lost")
        assert await is_open(far_reader)
        await proxy.remove(toxic)
        assert await far_reader.read() == b""
        assert await reader.read() == b""


@pytest.mark.parametrize("variation", [0, 10])
async def test_slicer_sends_pieces_one_after_another(kit: Toolkit, variation: int) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        (_, writer), (far_reader, _far) = await dialled(served)
        await proxy.add("slicer", "to_broker", average_size=30, size_variation=variation, delay=40_000)
        began_s = now_s()
        sent = bytes(range(100))
        writer.write(sent)
        pieces = [await far_reader.read(1_000)]
        while sum(map(len, pieces)) < len(sent):
            pieces.append(await far_reader.read(1_000))
        assert b"".join(pieces) == sent
        least = 4 if variation == 0 else 3
        assert since(began_s) >= (least - 1) * 0.039
        if kit.slack_s < 0.01:
            assert all(len(piece) <= 30 + variation for piece in pieces)


@pytest.mark.parametrize(("delay_us", "waited_s"), [(100, 0.001), (1_000, 0.001), (1_500, 0.002)])
async def test_waits_of_a_toxic_last_whole_milliseconds(kit: Toolkit, delay_us: int, waited_s: float) -> None:
    """Go's runtime sleeps in epoll_wait, which counts in milliseconds; other traffic may cut it short."""
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        (_, writer), (far_reader, _far) = await dialled(served)
        await proxy.add("slicer", "to_broker", average_size=10, size_variation=0, delay=delay_us)
        began_s = now_s()
        writer.write(bytes(640))
        await far_reader.readexactly(640)
        assert 0.9 * 63 * waited_s <= since(began_s) <= 63 * waited_s + kit.slack_s


async def test_bandwidth_makes_up_for_waits_that_lasted_too_long(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        (_, writer), (far_reader, _far) = await dialled(served)
        await proxy.add("bandwidth", "to_broker", rate=100)
        began_s = now_s()
        for _ in range(40):
            writer.write(bytes(130))
            await far_reader.readexactly(130)
        assert 40 * 0.0013 - 0.001 <= since(began_s) <= 40 * (0.0013 + TRIP_S) + 0.001 + kit.slack_s


async def test_limit_data_passes_exactly_so_many_bytes(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        (reader, writer), (far_reader, far_writer) = await dialled(served)
        await proxy.add("limit_data", "to_client", bytes=6)
        writer.write(b"this way there is no limit")
        await far_reader.readexactly(26)
        far_writer.write(b"abcd")
        assert await reader.readexactly(4) == b"abcd"
        far_writer.write(b"efgh")
        assert await reader.read() == b"ef"
        assert await far_reader.read() == b""


@pytest.mark.parametrize(
    ("kind", "attributes", "passed", "kilobytes", "reset"),
    [
        ("limit_data", {"bytes": 64 * 1024}, 64 * 1024, 70, False),
        ("limit_data", {"bytes": 64 * 1024}, 64 * 1024, 200, True),
        ("reset_peer", {"timeout": 100}, 0, 40, False),
        ("reset_peer", {"timeout": 100}, 0, 140, True),
    ],
)
async def test_a_proxy_that_closes_with_unread_bytes_resets_the_connection(
    kit: Toolkit, kind: str, attributes: dict[str, int], passed: int, kilobytes: int, reset: bool
) -> None:
    """It still reads two chunks of 32 KiB that pass no more: its reader holds one, and the no-op toxic another one."""
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        (reader, writer), (far_reader, _far) = await dialled(served)
        await proxy.add(kind, "to_broker", **attributes)
        writer.write(bytes(1024 * kilobytes))
        if reset:
            with pytest.raises(ConnectionResetError):
                await reader.read()
        else:
            assert await reader.read() == b""
        assert len(await far_reader.read()) == passed


async def test_reset_peer_resets_what_was_dialled_meanwhile_and_closes_what_was_open(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        (old_reader, old_writer), (old_far_reader, _old_far) = await dialled(served)
        await proxy.add("reset_peer", "to_broker", timeout=200)
        (reader, writer), (far_reader, _far) = await dialled(served)
        assert await is_open(reader)
        began_s = now_s()
        writer.write(b"lost")
        old_writer.write(b"lost")
        with pytest.raises(ConnectionResetError):
            await reader.read()
        assert 0.197 <= since(began_s) <= 0.2 + kit.slack_s
        with pytest.raises(ConnectionResetError):
            await far_reader.read()
        assert await old_reader.read() == b""
        assert await old_far_reader.read() == b""


async def test_reset_peer_is_removed_once_its_waits_are_over(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        toxic = await proxy.add("reset_peer", "to_broker", timeout=500)
        (reader, writer), _ = await dialled(served)
        began_s = now_s()
        writer.write(b"lost")
        await asyncio.sleep(PAUSE_S)
        await proxy.remove(toxic)
        assert 0.49 <= since(began_s) <= 0.5 + kit.slack_s
        with pytest.raises(ConnectionResetError):
            await reader.read()
        (_, writer), (far_reader, _far) = await dialled(served)
        writer.write(b"kept")
        assert await far_reader.readexactly(4) == b"kept"


async def test_toxicity_affects_some_connections_and_spares_the_others(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        await proxy.add("timeout", "to_broker", toxicity=0.5, timeout=100)
        pairs = [await dialled(served) for _ in range(24)]
        await asyncio.sleep(0.1 + 0.1 + kit.slack_s)
        spared = [await _passes(near, far) for near, far in pairs]
        assert 0 < sum(spared) < len(spared)


async def _passes(near: Peer, far: Peer) -> bool:
    if near[0].at_eof():
        return False
    near[1].write(b"?")
    return await far[0].read(1) == b"?"


async def test_a_toxic_behind_another_one_makes_that_one_begin_anew(kit: Toolkit) -> None:
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        (_, writer), (far_reader, _far) = await dialled(served)
        await proxy.add("timeout", "to_broker", timeout=400)
        await asyncio.sleep(0.2)
        began_s = now_s()
        await proxy.add("latency", "to_broker", latency=1)
        assert await far_reader.read() == b""
        assert 0.397 <= since(began_s) <= 0.4 + kit.slack_s
        writer.close()


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
async def test_toxics_stand_in_the_order_of_their_adding(kit: Toolkit, flow: Flow) -> None:
    """What is swallowed is not delayed any more; what is delayed is limited behind its delay."""
    served = await serve(UPSTREAM)
    async with kit.proxy() as proxy:
        near, far = await dialled(served)
        (_, writer), (reader, _) = (near, far) if flow == "to_broker" else (far, near)
        await proxy.add("latency", flow, latency=200)
        await proxy.add("limit_data", flow, bytes=3)
        began_s = now_s()
        writer.write(b"abcdef")
        assert await reader.read() == b"abc"
        assert 0.197 <= since(began_s) <= 0.2 + kit.slack_s
