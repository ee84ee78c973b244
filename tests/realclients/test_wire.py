"""Protects the count of dials on the wire: each once, however often its SYN is sent, and none of the lab's own."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable

import pytest

from harness.environments.linux import addresses
from harness.environments.linux.dial_capture import DialCapture
from harness.environments.linux.packets import TREAT, PacketTable, rules_for
from harness.environments.local.cell import call_in_cell
from harness.environments.world import Dial, EnvironmentUnavailable
from harness.levers import FilterPackets, PacketAction

pytestmark = pytest.mark.cell
DIAL_S = 2.3
"""Long enough for two retransmissions of a SYN."""


def in_cell(function: Callable[[], Awaitable[tuple[Dial, ...]]]) -> tuple[Dial, ...]:
    try:
        return call_in_cell(function, timeout_s=60)
    except EnvironmentUnavailable as refused:
        pytest.skip(str(refused))


async def _dial(address: tuple[str, int], *, source: str | None = None) -> None:
    _, writer = await asyncio.open_connection(*address, local_addr=None if source is None else (source, 0))
    writer.transport.abort()


async def _answered_and_refused() -> tuple[Dial, ...]:
    wire = DialCapture()
    with socket.create_server(addresses.advertised_address(1)), socket.create_server(addresses.broker(1)):
        await _dial(addresses.advertised_address(1))
        await _dial(addresses.broker(1))
        await _dial(addresses.advertised_address(1), source=addresses.PROBES)
        await _dial(addresses.advertised_address(1), source="127.0.0.9")
        with pytest.raises(ConnectionRefusedError):
            await _dial(addresses.advertised_address(2))
        with pytest.raises(ConnectionRefusedError):
            await _dial(("127.0.2.1", 9093))
    return wire.dials()


def test_dials_to_advertised_addresses_are_seen_answered_or_not() -> None:
    before_ns = time.monotonic_ns()
    seen = in_cell(_answered_and_refused)
    assert [dial.address for dial in seen] == ["127.0.2.1:9092", "127.0.2.1:9092", "127.0.2.2:9092"]
    stamps = [dial.at_ns for dial in seen]
    assert before_ns < stamps[0] < stamps[1] < stamps[2] < time.monotonic_ns()


async def _dropped() -> tuple[Dial, ...]:
    wire, table = DialCapture(), PacketTable()
    await table.open()
    lever = FilterPackets(broker=1, flow="to_broker", verdict=PacketAction.DROP)
    rules = await table.add(TREAT, [rule.expressions for rule in rules_for(lever, *addresses.advertised_address(1))])
    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(DIAL_S):
                await _dial(addresses.advertised_address(1))
    assert await rules.packet_counts() == (6,)
    table.close()
    return wire.dials()


def test_a_syn_that_is_sent_again_is_no_other_dial() -> None:
    seen = in_cell(_dropped)
    assert len(seen) == 2
    assert (seen[1].at_ns - seen[0].at_ns) / 1e9 == pytest.approx(DIAL_S, abs=0.2)


async def _while_nobody_looks() -> tuple[Dial, ...]:
    """The loop is kept busy: the kernel's stamp tells when, not the reading."""
    wire = DialCapture()
    with socket.create_server(addresses.advertised_address(1)):
        for _ in range(2):
            with socket.create_connection(addresses.advertised_address(1)):
                time.sleep(0.3)
    return wire.dials()


def test_the_kernel_s_stamp_counts() -> None:
    first, second = in_cell(_while_nobody_looks)
    assert (second.at_ns - first.at_ns) / 1e9 == pytest.approx(0.3, abs=0.1)
