"""Protects the retransmission time-out that follows a slow dial: a connection takes the dial for its path's round trip,
on simulated sockets as on real ones (tcpi_rto)."""

import asyncio

import pytest
from toolkit import ADDRESS, Peer, Toolkit, now_s, serve, since

from harness.levers import Delays, PacketAction


async def dialled(kit: Toolkit, delay_s: float) -> tuple[Peer, Peer, float]:
    """Both ends of a connection whose dial was held, and how long it took."""
    served = await serve()
    async with kit.packets("to_broker", only="syn", verdict=PacketAction.DELAY, delays=Delays(seconds=(delay_s,))):
        began_s = now_s()
        near = await asyncio.open_connection(*ADDRESS)
        taken_s = since(began_s)
        far = await served.peer()
    served.close()
    return near, far, taken_s


@pytest.mark.parametrize("delay_s", [0.0, 0.05, 0.7, 2.5])
async def test_a_dial_is_the_first_round_trip_that_a_connection_sees(kit: Toolkit, delay_s: float) -> None:
    """Linux 6.18: 204 ms, 252 ms, 2.1 s and 7.5 s. The other end has seen nothing of it."""
    (_, writer), (_, far_writer), taken_s = await dialled(kit, delay_s)
    earliest_s, latest_s = (dial_s + max(2 * dial_s, 0.2) for dial_s in (delay_s, taken_s))
    assert earliest_s <= kit.timeout_s(writer) <= latest_s + 0.008
    assert 0.2 <= kit.timeout_s(far_writer) <= 0.208 + kit.slack_s / 4
    for end in (writer, far_writer):
        end.transport.abort()


BROUGHT_DOWN_S = [2.104, 2.06, 2.012, 1.968, 1.92, 1.872, 1.824, 1.764, 1.692, 1.612, 1.524, 1.428, 1.328, 1.228, 1.128,
                  1.032, 0.936, 0.848, 0.764, 0.688, 0.616, 0.552, 0.492, 0.436, 0.388, 0.344, 0.312, 0.288, 0.268,
                  0.256, 0.244]  # fmt: skip
"""tcpi_rto on Linux 6.18 after a dial of 0.7 s, then after each of 30 requests that were answered at once."""


async def test_requests_that_are_answered_at_once_bring_it_down_bit_by_bit(kit: Toolkit) -> None:
    (reader, writer), (far_reader, far_writer), taken_s = await dialled(kit, 0.7)
    seen_s = [kit.timeout_s(writer)]
    for _ in range(30):
        writer.write(b"?")
        await far_reader.readexactly(1)
        far_writer.write(b"!")
        await reader.readexactly(1)
        seen_s.append(kit.timeout_s(writer))
    late_s = 3 * (taken_s - 0.7) + kit.slack_s / 10
    for value_s, measured_s in zip(seen_s, BROUGHT_DOWN_S, strict=True):
        assert measured_s - 0.012 <= value_s <= measured_s + 0.012 + late_s
    for end in (writer, far_writer):
        end.transport.abort()


async def test_a_request_that_is_lost_after_a_slow_dial_is_sent_again_that_much_later(kit: Toolkit) -> None:
    """As a probe of the tail: after two round trips and 200 ms, which is less than the time-out's three."""
    (_, writer), (far_reader, far_writer), taken_s = await dialled(kit, 0.7)
    async with kit.packets("to_broker", only="data"):
        sent_s = now_s()
        writer.write(b"request")
        await asyncio.sleep(0.5)
    assert await far_reader.readexactly(7) == b"request"
    assert 2 * 0.7 + 0.2 <= since(sent_s) <= 2 * taken_s + 0.2 + 0.036 + kit.slack_s
    for end in (writer, far_writer):
        end.transport.abort()
