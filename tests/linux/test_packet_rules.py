"""Protects what packet rules do on real sockets: what is matched, what is not, what is counted, and that they go.

Each test runs in a network namespace of its own.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from harness.environments.linux.packets import TREAT, WATCH, PacketTable, RuleGroup, count_refusals, rules_for
from harness.environments.local.cell import call_in_cell
from harness.levers import FilterPackets, Flow, PacketAction

pytestmark = pytest.mark.cell

HOST, PORT = "127.0.2.1", 9092
DROP, REFUSE = PacketAction.DROP, PacketAction.REFUSE


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()


async def _pull(table: PacketTable, lever: FilterPackets) -> RuleGroup:
    return await table.add(TREAT, [rule.expressions for rule in rules_for(lever, HOST, PORT)])


def _in_cell(test: Callable[[PacketTable], Awaitable[None]]) -> None:
    async def body() -> None:
        table = PacketTable()
        await table.open()
        server = await asyncio.start_server(_echo, HOST, PORT)
        try:
            await test(table)
        finally:
            server.close()
            table.close()

    call_in_cell(body, timeout_s=30)


async def _answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, within_s: float) -> bool:
    """Whether one more byte comes back in time. A byte that was late is read by the next call's wait."""
    writer.write(b"?")
    try:
        async with asyncio.timeout(within_s):
            await reader.readexactly(1)
    except TimeoutError:
        return False
    return True


@pytest.mark.parametrize("flow", ["to_broker", "to_client"])
def test_a_blackhole_darkens_dials_and_connections_is_counted_and_heals(flow: Flow) -> None:
    async def test(table: PacketTable) -> None:
        reader, writer = await asyncio.open_connection(HOST, PORT)
        assert await _answers(reader, writer, within_s=5)
        group = await _pull(table, FilterPackets(broker=1, flow=flow, verdict=DROP))
        assert await group.packet_counts() == (0,)
        assert not await _answers(reader, writer, within_s=0.1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await asyncio.open_connection(HOST, PORT)
        (dropped,) = await group.packet_counts()
        assert dropped >= 2
        await group.remove()
        # The kernel retransmits: 0.2, 0.4, 0.8 s after the byte was sent.
        async with asyncio.timeout(5):
            await reader.readexactly(1)
        assert await _answers(reader, writer, within_s=5)
        assert (await group.packet_counts())[0] >= dropped

    _in_cell(test)


def test_only_syn_leaves_established_connections_alone() -> None:
    async def test(table: PacketTable) -> None:
        reader, writer = await asyncio.open_connection(HOST, PORT)
        group = await _pull(table, FilterPackets(broker=1, flow="to_broker", verdict=DROP, only="syn"))
        assert await _answers(reader, writer, within_s=5)
        assert await group.packet_counts() == (0,)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await asyncio.open_connection(HOST, PORT)
        assert await group.packet_counts() == (1,)

    _in_cell(test)


def test_only_data_lets_a_dial_and_bare_acknowledgements_pass_and_no_byte() -> None:
    async def test(table: PacketTable) -> None:
        reader, writer = await asyncio.open_connection(HOST, PORT)
        group = await _pull(table, FilterPackets(broker=1, flow="to_client", verdict=DROP, only="data"))
        await asyncio.open_connection(HOST, PORT)
        assert sum(await group.packet_counts()) == 0
        assert not await _answers(reader, writer, within_s=0.1)
        # Only the reply's byte can have been dropped: this flow carries nothing else with payload.
        assert sum(await group.packet_counts()) >= 1
        await group.remove()
        async with asyncio.timeout(5):
            await reader.readexactly(1)

    _in_cell(test)


@pytest.mark.parametrize("size", [1, 27, 28, 29, 1448, 100_000])
def test_only_data_counts_segments_of_every_size(size: int) -> None:
    """A payload shorter than the longest TCP options must not be taken for options, nor options for payload."""

    async def test(table: PacketTable) -> None:
        reader, writer = await asyncio.open_connection(HOST, PORT)
        *marking, dropping = rules_for(FilterPackets(broker=1, flow="to_client", verdict=DROP, only="data"), HOST, PORT)
        watching = await table.add(WATCH, [*(rule.expressions for rule in marking), dropping.expressions[:-1]])
        everything = await table.add(
            WATCH,
            [
                rule.expressions[:-1]
                for rule in rules_for(FilterPackets(broker=1, flow="to_client", verdict=DROP), HOST, PORT)
            ],
        )
        writer.write(bytes(size))
        async with asyncio.timeout(10):
            await reader.readexactly(size)
        packet_counts = sum(await watching.packet_counts())
        assert 1 <= packet_counts <= (await everything.packet_counts())[0]
        if size <= 1448:
            assert packet_counts == 1

    _in_cell(test)


def test_refusing_answers_dials_at_once_and_counts_them_apart_from_resets() -> None:
    async def test(table: PacketTable) -> None:
        reader, writer = await asyncio.open_connection(HOST, PORT)
        assert await _answers(reader, writer, within_s=5)
        rules = rules_for(FilterPackets(broker=1, flow="to_broker", verdict=REFUSE), HOST, PORT)
        assert [rule.refuses for rule in rules] == [True, False]
        group = await _pull(table, FilterPackets(broker=1, flow="to_broker", verdict=REFUSE))
        for _ in range(3):
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(HOST, PORT)
        writer.write(b"?")
        with pytest.raises(ConnectionResetError):
            await reader.read(1)
        refused, reset = await group.packet_counts()
        assert (refused, reset >= 1) == (3, True)
        await group.remove()
        _, writer = await asyncio.open_connection(HOST, PORT)
        writer.close()

    _in_cell(test)


def test_refusals_are_counted_and_resets_of_connections_are_not() -> None:
    async def test(table: PacketTable) -> None:
        watch = await table.add(WATCH, [count_refusals(HOST, PORT), count_refusals("127.0.2.2", PORT)])
        reader, writer = await asyncio.open_connection(HOST, PORT)
        assert await _answers(reader, writer, within_s=5)
        reset = await _pull(table, FilterPackets(broker=1, flow="to_broker", verdict=REFUSE, only="data"))
        writer.write(b"?")
        with pytest.raises(ConnectionResetError):
            await reader.read(1)
        await reset.remove()
        for _ in range(4):
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.2.2", PORT)
        assert await watch.packet_counts() == (0, 4)

    _in_cell(test)


def test_levers_on_one_link_are_told_apart_and_healed_one_by_one() -> None:
    async def test(table: PacketTable) -> None:
        both = [await _pull(table, FilterPackets(broker=1, flow="to_broker", verdict=DROP)) for _ in range(2)]
        assert all(not set(a.handles) & set(b.handles) for a, b in pairwise(both))
        await both[0].remove()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await asyncio.open_connection(HOST, PORT)
        await both[1].remove()
        _, writer = await asyncio.open_connection(HOST, PORT)
        writer.close()

    _in_cell(test)


def test_the_loop_has_a_turn_between_the_rules_of_a_lever() -> None:
    """A reset takes a dozen rules, and encoding one takes milliseconds: timers must not wait for them all."""

    async def test(table: PacketTable) -> None:
        lever = FilterPackets(broker=1, flow="to_broker", only="data", verdict=PacketAction.RESET)
        began_s = turn_s = time.process_time()
        longest_s = 0.0
        adding = asyncio.create_task(_pull(table, lever))
        while not adding.done():
            await asyncio.sleep(0)
            longest_s, turn_s = max(longest_s, time.process_time() - turn_s), time.process_time()
        assert len((await adding).handles) >= 12
        assert longest_s < (turn_s - began_s) / 3

    _in_cell(test)
