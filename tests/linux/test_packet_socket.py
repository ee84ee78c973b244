"""Protects what observes packets: each is seen once, with its time, read late or at once; what did not fit is counted.

Each test runs in a network namespace of its own.
"""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable

import pytest

from harness.environments.linux.packet_socket import ACCEPT, HeaderRing
from harness.environments.local.cell import call_in_cell

pytestmark = pytest.mark.cell

HEADERS_BYTES = 28
"""Of IP and UDP."""
MANY = 1500
"""More packets than fit."""


def _in_cell(test: Callable[[HeaderRing, Callable[[int], bytes]], Awaitable[None]]) -> None:
    async def body() -> None:
        receiving = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiving.bind(("127.0.0.1", 0))
        sending = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

        def send(number: int, length: int = 4) -> bytes:
            payload = number.to_bytes(4).ljust(length, b"x")
            sending.sendto(payload, receiving.getsockname())
            return payload

        ring = HeaderRing((ACCEPT,))
        try:
            await test(ring, send)
        finally:
            ring.close()
            sending.close()
            receiving.close()

    call_in_cell(body, timeout_s=30)


def _payloads(ring: HeaderRing) -> list[bytes]:
    return [packet[HEADERS_BYTES:] for packet, _ in ring.read()]


def test_packets_are_read_at_once_and_once_each_with_the_time_at_which_they_came() -> None:
    async def test(ring: HeaderRing, send: Callable[[int], bytes]) -> None:
        in_time = 0
        for number in range(MANY):
            before_ns = time.monotonic_ns()
            send(number)
            after_ns = time.monotonic_ns()
            seen = list(ring.read())
            assert [packet[HEADERS_BYTES:] for packet, _ in seen] == [number.to_bytes(4)]
            in_time += all(before_ns - 50_000 <= at_ns <= after_ns + 50_000 for _, at_ns in seen)
        assert list(ring.read()) == []
        assert ring.missed() == 0
        assert in_time > 0.9 * MANY, "all but those between whose clocks' readings this process did not run"

    _in_cell(test)


def test_of_a_large_packet_the_headers_are_seen() -> None:
    async def test(ring: HeaderRing, send: Callable[..., bytes]) -> None:
        payload = send(1, 9_000)
        (seen,) = _payloads(ring)
        assert payload.startswith(seen)
        assert len(seen) == 128 - HEADERS_BYTES

    _in_cell(test)


def test_a_burst_is_reported_later_and_together_and_the_next_one_again() -> None:
    async def test(ring: HeaderRing, send: Callable[[int], bytes]) -> None:
        reported: asyncio.Queue[list[bytes]] = asyncio.Queue()
        ring.call_when_seen(lambda: reported.put_nowait(_payloads(ring)))
        for burst in (range(20), range(20, 40)):
            sent = [send(number) for number in burst]
            await asyncio.sleep(0)
            assert reported.empty(), "reading takes a processor from what is observed"
            assert await asyncio.wait_for(reported.get(), 10) == sent

    _in_cell(test)


def test_what_did_not_fit_is_counted_and_later_packets_are_seen() -> None:
    async def test(ring: HeaderRing, send: Callable[[int], bytes]) -> None:
        for number in range(MANY):
            send(number)
        seen = _payloads(ring)
        assert seen == [number.to_bytes(4) for number in range(len(seen))]
        assert len(seen) < MANY
        assert ring.missed() == MANY - len(seen)
        assert ring.missed() == 0
        assert _payloads(ring) == []
        send(7)
        assert _payloads(ring) == [(7).to_bytes(4)]

    _in_cell(test)
