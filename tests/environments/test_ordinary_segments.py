"""Protects what a simulated receiver tells its peer on an ordinary network: when it acknowledges, and how far it opens
its window. The figures are those of Linux's rules."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from random import Random
from typing import NamedTuple

from harness.environments.sim.loop import SimLoop
from harness.environments.sim.rules import PacketRule
from harness.environments.sim.segment import Segment
from harness.environments.sim.sender import ETHERNET_SEGMENT_SIZE
from harness.environments.sim.simulation import simulate
from harness.levers import FLOWS, Delays, PacketAction

ADDRESS = ("127.0.2.1", 9092)
FIRST_LIMIT = 131_072 * 157 // 256
"""What fits into the receive buffer at first (net.ipv4.tcp_rmem), of whose memory 157 / 256 is payload."""


class Seen(NamedTuple):
    at_s: float
    from_server: bool
    length: int
    ack: int
    window: int


class Wire:
    """Keeps what arrives."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop
        self.seen: list[Seen] = []

    def look_at(self, segment: Segment) -> None:
        self.seen.append(
            Seen(
                self._loop.now,
                segment.src == ADDRESS,
                len(segment.payload),
                segment.ack,
                segment.edge - segment.ack,
            )
        )

    def answers(self) -> list[Seen]:
        """What came from the server since the last call."""
        found = [each for each in self.seen if each.from_server]
        self.seen.clear()
        return found


Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Check = Callable[[SimLoop, Wire, Peer, Peer], Awaitable[None]]


def connected(check: Check, *, delay_s: float = 0.0) -> None:
    async def main(loop: SimLoop) -> None:
        network = loop.network
        network.segment_size = ETHERNET_SEGMENT_SIZE
        peers: asyncio.Queue[Peer] = asyncio.Queue()

        async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            peers.put_nowait((reader, writer))

        server = await asyncio.start_server(keep, *ADDRESS)
        wire = Wire(loop)
        with network.tapped(wire), ExitStack() as rules:
            for flow in FLOWS if delay_s else ():
                delays = Delays(seconds=(delay_s,))
                rules.enter_context(network.rule(PacketRule(ADDRESS, flow, "any", PacketAction.DELAY, delays=delays)))
            near = await asyncio.open_connection(*ADDRESS)
            far = await peers.get()
            await check(loop, wire, near, far)
        for _, writer in (near, far):
            writer.transport.abort()
        server.close()

    simulate(main, Random(3))


async def ask(near: Peer, far: Peer, size: int) -> None:
    near[1].write(bytes(size))
    await far[0].readexactly(size)
    far[1].write(b"!")
    await near[0].readexactly(1)


def test_a_segment_on_a_young_connection_is_acknowledged_at_once() -> None:
    async def check(loop: SimLoop, wire: Wire, near: Peer, far: Peer) -> None:
        wire.answers()
        sent_s = loop.now
        near[1].write(b"?")
        await asyncio.sleep(0.1)
        (answer,) = wire.answers()
        assert answer.at_s - sent_s < 0.001

    connected(check)


def test_in_a_dialogue_a_lone_segment_is_acknowledged_40_ms_late_and_that_ends_the_dialogue() -> None:
    async def check(loop: SimLoop, wire: Wire, near: Peer, far: Peer) -> None:
        await ask(near, far, 100)
        for earliest_s, latest_s in ((0.04, 0.049), (0.0, 0.001)):
            wire.answers()
            sent_s = loop.now
            near[1].write(b"?")
            await asyncio.sleep(0.1)
            (answer,) = wire.answers()
            assert not answer.length
            assert earliest_s <= answer.at_s - sent_s <= latest_s

    connected(check)


def test_in_a_dialogue_the_answer_carries_the_acknowledgement() -> None:
    async def check(loop: SimLoop, wire: Wire, near: Peer, far: Peer) -> None:
        await ask(near, far, 100)
        wire.answers()
        await ask(near, far, 100)
        (answer,) = wire.answers()
        assert (answer.length, answer.ack) == (1, 200)

    connected(check)


def test_two_full_segments_are_acknowledged_at_once() -> None:
    async def check(loop: SimLoop, wire: Wire, near: Peer, far: Peer) -> None:
        await ask(near, far, 3_000)
        wire.answers()
        sent_s = loop.now
        near[1].write(bytes(2 * ETHERNET_SEGMENT_SIZE))
        await asyncio.sleep(0.1)
        (answer,) = wire.answers()
        assert answer.ack == 3_000 + 2 * ETHERNET_SEGMENT_SIZE
        assert answer.at_s - sent_s < 0.001

    connected(check)


def test_the_window_of_a_process_that_reads_at_once_lets_slow_start_go_on() -> None:
    async def check(loop: SimLoop, wire: Wire, near: Peer, far: Peer) -> None:
        sizes = [14_480, 28_960, 57_920, 115_840]  # a round trip's segments each
        began_s = loop.now
        await ask(near, far, sum(sizes))
        assert loop.now - began_s < 4.5 * 0.1
        windows = [each.window for each in wire.answers()]
        assert windows[0] <= FIRST_LIMIT
        assert windows[-1] > 2 * sizes[-1]

    connected(check, delay_s=0.05)


def test_the_window_of_a_process_that_does_not_read_stays_what_its_buffer_takes() -> None:
    async def check(loop: SimLoop, wire: Wire, near: Peer, far: Peer) -> None:
        far[1].transport.pause_reading()  # type: ignore[attr-defined]
        near[1].write(bytes(300_000))
        await asyncio.sleep(3.0)
        answers = wire.answers()
        assert max(each.ack + each.window for each in answers) <= FIRST_LIMIT
        assert answers[-1].ack <= FIRST_LIMIT

    connected(check, delay_s=0.05)
