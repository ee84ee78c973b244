"""Protects net.Dialer's policy: addresses one after the other, each with its share of the time that is left."""

import asyncio
from random import Random

import pytest

from client.events import Tracer
from client.golang import Dialer
from client.limit import Limit
from client.net.errors import Cause, NetError, Phase
from client.net.resolver import TableResolver
from client.net.stream import Stream
from client.runtime import ClientRuntime

NAMES = {"brokers": ("10.0.0.1", "10.0.0.2", "10.0.0.3")}


class Refusals:
    """Passed in as the runtime's `connect`: notes how long each address is given, and refuses it."""

    def __init__(self) -> None:
        self.given_s: list[float | None] = []

    async def connect(self, ip: str, port: int, *, deadline_at: float | None, keep_alive_s: float | None) -> Stream:
        now = asyncio.get_running_loop().time()
        self.given_s.append(None if deadline_at is None else deadline_at - now)
        raise NetError(Phase.CONNECT, Cause.REFUSED, f"{ip}:{port}")


@pytest.mark.parametrize(
    ("limit_s", "expected"),
    [
        (30.0, [10.0, 15.0, 30.0]),
        (5.0, [2.0, 2.5, 5.0]),  # the first one's third would be less than the minimum
        (1.5, [1.5, 1.5, 1.5]),  # less than the minimum is left
    ],
)
def test_each_address_gets_its_share(limit_s: float, expected: list[float]) -> None:
    assert dial(Limit(limit_s, ("Net.DialTimeout",))) == pytest.approx(expected, abs=0.2)


def test_without_a_limit_no_address_has_a_deadline() -> None:
    assert dial(Limit()) == [None, None, None]


def dial(limit: Limit) -> list[float | None]:
    """How long each address was given. The first address's error is the dial's."""
    refusals = Refusals()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        runtime = ClientRuntime(
            Random(1), TableResolver(NAMES), Tracer(loop.time, lambda *_: None), connect=refusals.connect
        )
        with pytest.raises(NetError, match=r"10\.0\.0\.1:9092: refused"):
            await Dialer(runtime).dial("brokers", 9092, broker=-1, limit=limit)

    asyncio.run(main())
    return refusals.given_s
