"""Protects the kernel's timers: schedules and limits that take too long to wait for on real sockets, and the wheel."""

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import pytest

from harness.environments.sim.loop import SimLoop
from harness.environments.sim.round_trip import RoundTrip
from harness.environments.sim.rules import PacketRule
from harness.environments.sim.simulation import simulate
from harness.environments.sim.timers import TimerWheel
from harness.levers import PacketAction

ADDRESS = ("127.0.2.1", 9092)


def run(main: Callable[[SimLoop], Coroutine[Any, Any, Any]], seed: int = 1) -> Any:
    return simulate(main, Random(seed))


class Recorded(PacketRule):
    """A rule that notes when it took a segment."""

    __slots__ = ("at_s", "loop")

    def __init__(self, loop: SimLoop, flow: Any = "to_broker", only: str = "any") -> None:
        super().__init__(ADDRESS, flow, only, PacketAction.DROP)
        self.loop = loop
        self.at_s: list[float] = []

    def match_and_count(self, segment: Any) -> bool:
        taken = super().match_and_count(segment)
        if taken:
            self.at_s.append(self.loop.time())
        return taken


def assert_close(seen_s: list[float], expected_s: list[float]) -> None:
    """Never early, and late by what the wheel's slots add up to: less than an eighth."""
    assert len(seen_s) == len(expected_s), seen_s
    for seen, expected in zip(seen_s, expected_s, strict=True):
        assert expected - 0.01 <= seen <= expected * 1.126 + 0.01, (seen, expected)


async def connected(loop: SimLoop) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    await asyncio.start_server(keep, *ADDRESS)
    streams = await asyncio.open_connection(*ADDRESS)
    await asyncio.sleep(0.001)  # the handshake's last segment arrives
    return streams


def test_a_dial_into_the_dark_sends_eleven_syns_and_ends() -> None:
    async def main(loop: SimLoop) -> None:
        rule = Recorded(loop)
        began_s = loop.time()
        with loop.network.rule(rule), pytest.raises(TimeoutError) as error:
            await asyncio.open_connection(*ADDRESS)
        assert error.value.errno == 110
        assert_close([at - began_s for at in rule.at_s], [0, 1, 2, 3, 4, 5, 7, 11, 19, 35, 67])
        assert 131 <= loop.time() - began_s <= 140

    run(main)


def test_an_unanswered_syn_ack_is_sent_again_and_then_forgotten() -> None:
    async def main(loop: SimLoop) -> None:
        await asyncio.start_server(lambda *_: None, *ADDRESS)
        rule = Recorded(loop, "to_client")
        began_s = loop.time()
        with loop.network.rule(rule):
            dial = asyncio.create_task(asyncio.open_connection(*ADDRESS))
            await asyncio.sleep(0.5)
            dial.cancel()
            await asyncio.sleep(200)
        assert_close([at - began_s for at in rule.at_s], [0, 1, 3, 7, 15, 31])

    run(main)


def test_one_lost_segment_doubles_its_waits_until_the_connection_times_out() -> None:
    async def main(loop: SimLoop) -> None:
        reader, writer = await connected(loop)
        rule = Recorded(loop)
        began_s = loop.time()
        with loop.network.rule(rule):
            writer.write(b"request")
            with pytest.raises(TimeoutError) as error:
                await reader.read()
        assert error.value.errno == 110
        assert 924 <= loop.time() - began_s <= 1000
        doubling = [0, *(0.204 * 2**n for n in range(11))]
        assert_close([at - began_s for at in rule.at_s][:12], doubling)
        gaps = [later - earlier for earlier, later in zip(rule.at_s[11:], rule.at_s[12:], strict=False)]
        assert gaps
        assert all(119.9 <= gap <= 136 for gap in gaps)

    run(main)


def test_several_lost_segments_are_probed_for_at_once() -> None:
    async def main(loop: SimLoop) -> None:
        _, writer = await connected(loop)
        rule = Recorded(loop)
        began_s = loop.time()
        with loop.network.rule(rule):
            for _ in range(3):
                writer.write(bytes(100))
            await asyncio.sleep(2)
        seen = [at - began_s for at in rule.at_s]
        assert seen[:3] == pytest.approx([0, 0, 0], abs=1e-4)
        assert 0.004 <= seen[3] <= 0.010
        assert_close(seen[4:], [0.204, 0.612, 1.428])

    run(main)


def test_a_closed_connection_is_given_up_sooner() -> None:
    """Last retransmission at about 53 s, gone at about 107 s: healed later, what was written never arrives."""

    async def main(loop: SimLoop) -> None:
        _, writer = await connected(loop)
        rule = Recorded(loop)
        began_s = loop.time()
        with loop.network.rule(rule):
            writer.write(b"request")
            writer.transport.abort()
            await asyncio.sleep(90)
            assert len(loop.network.undelivered_sockets()) == 1
            assert 52 <= rule.at_s[-1] - began_s <= 59
            await asyncio.sleep(30)
        assert loop.network.undelivered_sockets() == ()
        assert 52 <= rule.at_s[-1] - began_s <= 59

    run(main)


def test_a_closed_window_is_probed_until_it_opens() -> None:
    """The word that it has opened gets lost; the sender asks again on its own."""

    async def main(loop: SimLoop) -> None:
        accepted: list[asyncio.StreamReader] = []

        async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.pause_reading()
            accepted.append(reader)
            await asyncio.sleep(10)
            writer.transport.resume_reading()
            await reader.read()

        await asyncio.start_server(keep, *ADDRESS)
        _, writer = await asyncio.open_connection(*ADDRESS)
        writer.transport.set_write_buffer_limits(high=0)
        writer.write(bytes(10_000_000))
        await asyncio.sleep(9.9)
        with loop.network.rule(Recorded(loop, "to_client")):
            await asyncio.sleep(0.2)
        healed_s = loop.time()
        await writer.drain()
        assert 0.5 < loop.time() - healed_s < 10

    run(main)


@pytest.mark.parametrize("seed", range(20))
def test_the_wheel_is_never_early_and_late_by_less_than_its_slot(seed: int) -> None:
    rng = Random(seed)
    wheel = TimerWheel(rng)
    for delay_s, slot_s in [(0.0, 0.004), (0.204, 0.004), (0.3, 0.032), (1.0, 0.032), (4.0, 0.256), (64.0, 2.048)]:
        now_s = rng.random() * 1000
        late_s = wheel.fires_at(now_s, delay_s) - now_s - delay_s
        assert late_s + 0.004 >= -1e-6
        assert late_s <= slot_s + 0.004 + 1e-6


def test_the_wheels_phase_is_the_seeds() -> None:
    assert TimerWheel(Random(1)).fires_at(5, 1) == TimerWheel(Random(1)).fires_at(5, 1)
    assert len({TimerWheel(Random(seed)).fires_at(5, 4) for seed in range(20)}) > 10


def test_the_retransmission_timeout_is_whole_jiffies() -> None:
    assert RoundTrip(60e-6).timeout_s == pytest.approx(0.204)
    assert RoundTrip(0.05).timeout_s == pytest.approx(0.252)
