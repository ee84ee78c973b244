"""Protects what the wire says of a program that reports nothing: silence, answers, resets, dials without an answer."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable

import pytest

from harness.environments.linux import addresses
from harness.environments.linux.conversation_capture import ConversationCapture
from harness.environments.linux.packets import TREAT, PacketTable, rules_for
from harness.environments.local.cell import call_in_cell
from harness.environments.world import EnvironmentUnavailable, WireSpan
from harness.levers import FilterPackets, PacketAction

pytestmark = pytest.mark.cell
SILENCE_S = 0.3
Spans = tuple[WireSpan, ...]


def in_cell(function: Callable[[], Awaitable[Spans]]) -> Spans:
    try:
        return call_in_cell(function, timeout_s=60)
    except EnvironmentUnavailable as refused:
        pytest.skip(str(refused))


async def _answer_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The first request is answered after a silence, the second with a reset."""
    await reader.read(10)
    await asyncio.sleep(SILENCE_S)
    writer.write(b"answer")
    await reader.read(10)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.close()


async def _answered_then_reset() -> Spans:
    wire = ConversationCapture()
    server = await asyncio.start_server(_answer_late, *addresses.advertised_address(1))
    reader, writer = await asyncio.open_connection(*addresses.advertised_address(1))
    writer.write(b"request")
    await reader.read(10)
    writer.write(b"again")
    with pytest.raises(ConnectionResetError):
        await reader.read(10)
    writer.close()
    server.close()
    return wire.spans()


def test_silence_lasts_until_the_first_bytes_or_the_end_of_the_connection() -> None:
    dial, answered, unanswered, reset = in_cell(_answered_then_reset)
    assert (dial.what, dial.outcome) == ("dial", "connected")
    assert (answered.what, answered.outcome) == ("answer", "first bytes")
    assert answered.ended_ns is not None
    assert (answered.ended_ns - answered.began_ns) / 1e9 >= SILENCE_S - 0.01
    assert (unanswered.what, unanswered.outcome) == ("answer", "reset by the broker")
    assert reset.what == "reset by the broker"
    assert len({span.port for span in (dial, answered, unanswered, reset)}) == 1


async def _refused_and_dropped() -> Spans:
    wire, table = ConversationCapture(), PacketTable()
    await table.open()
    lever = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)
    await table.add(TREAT, [rule.expressions for rule in rules_for(lever, *addresses.advertised_address(1))])
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*addresses.advertised_address(2))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1.5):
            await asyncio.open_connection(*addresses.advertised_address(1))
    table.close()
    return wire.spans()


def test_a_dial_without_an_answer_is_seen_as_long_as_it_was_tried() -> None:
    """Nobody sees when a program gives up: the last SYN is a second behind the first."""
    refused, dropped = in_cell(_refused_and_dropped)
    assert (refused.what, refused.outcome, refused.address) == ("dial", "refused", "127.0.2.2:9092")
    assert (dropped.what, dropped.outcome, dropped.address) == ("dial", "no answer", "127.0.2.1:9092")
    assert dropped.ended_ns is not None
    assert 0.5 < (dropped.ended_ns - dropped.began_ns) / 1e9 < 1.6


async def _unheard() -> Spans:
    """What the broker answers is dropped on its way: it was sent, and the client has nothing."""
    wire, table = ConversationCapture(), PacketTable()
    await table.open()
    with socket.create_server(addresses.advertised_address(1)) as server:
        client = socket.create_connection(addresses.advertised_address(1))
        answering, _ = server.accept()
        lever = FilterPackets(broker=1, flow="to_client", verdict=PacketAction.DROP)
        await table.add(TREAT, [rule.expressions for rule in rules_for(lever, *addresses.advertised_address(1))])
        client.sendall(b"request")
        answering.recv(10)
        answering.sendall(b"answer")
        await asyncio.sleep(SILENCE_S)
        found = wire.spans()
        client.close()
        answering.close()
    table.close()
    return found


def test_an_answer_that_the_client_did_not_get_ends_no_silence() -> None:
    spans = in_cell(_unheard)
    assert [(span.what, span.ended_ns is None) for span in spans] == [("dial", False), ("answer", True)]
