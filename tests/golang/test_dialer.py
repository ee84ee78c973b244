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
from harness.environments.sim.loop import SimLoop
from harness.environments.sim.simulation import simulate

NAMES = {"brokers": ("10.0.0.1", "10.0.0.2", "10.0.0.3")}


class Refusals:
    """Passed in as the runtime's `connect`: notes how long each address is given, and refuses it."""

    def __init__(self) -> None:
        self.given_s: list[float | None] = []

    async def connect(self, ip: str, port: int, *, deadline_at: float | None, **_: object) -> Stream:
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


FAMILIES = {"brokers": ("fd00::1", "10.0.0.1", "10.0.0.2")}


class Families:
    """Passed in as the runtime's `connect`: connects to one address family after a while, never to the other."""

    def __init__(self, works: str, takes_s: float) -> None:
        self.works = works
        self.takes_s = takes_s
        self.dialled: list[tuple[str, float]] = []
        self.opened: list[Stream] = []

    async def connect(self, ip: str, port: int, *, deadline_at: float | None, **_: object) -> Stream:
        loop = asyncio.get_running_loop()
        self.dialled.append((ip, loop.time()))
        if self.works not in ip:
            if deadline_at is None:
                raise NetError(Phase.CONNECT, Cause.REFUSED, f"{ip}:{port}")
            await asyncio.sleep(deadline_at - loop.time())
            raise NetError(Phase.CONNECT, Cause.TIMEOUT, f"{ip}:{port}")
        await asyncio.sleep(self.takes_s)
        self.opened.append(Stream(ip))
        return self.opened[-1]


@pytest.mark.parametrize(
    ("delay_s", "limit", "works", "after_s"),
    [
        (0.0, Limit(5.0), ".", 0.3),  # Go's default
        (0.1, Limit(5.0), ".", 0.1),
        (0.1, Limit(), ".", 0.0),  # refused at once
        (-1.0, Limit(6.0), ".", 2.0),  # one after the other: each has its share
        (0.1, Limit(5.0), ":", None),  # the first family connects before the other begins
    ],
)
def test_the_other_address_family_begins_after_the_delay(
    delay_s: float, limit: Limit, works: str, after_s: float | None
) -> None:
    families = Families(works, takes_s=0.05)
    began_at: list[float] = []

    async def main(loop: SimLoop) -> None:
        began_at.append(loop.time())
        runtime = ClientRuntime(
            Random(1), TableResolver(FAMILIES), Tracer(loop.time, lambda *_: None), connect=families.connect
        )
        connection = await Dialer(runtime, fallback_delay_s=delay_s).dial("brokers", 9092, broker=-1, limit=limit)
        assert connection.address == families.opened[0].remote

    simulate(main, Random(1))
    later = [at_s - began_at[0] for ip, at_s in families.dialled if "." in ip]
    assert later[:1] == ([] if after_s is None else [pytest.approx(after_s)])


@pytest.mark.parametrize(
    ("host", "limit", "kinds"),
    [
        ("brokers", Limit(1.0, ("Dialer.Timeout",)), {"wait_started", "wait_ended", "dial_started", "dial_ended"}),
        ("brokers", Limit(0.0, ("Dialer.Deadline",)), {"wait_started", "wait_ended"}),
        ("unknown", Limit(1.0, ("Dialer.Timeout",)), {"wait_started", "wait_ended"}),
    ],
)
def test_traced_from_its_connect_a_dial_that_makes_none_is_none(host: str, limit: Limit, kinds: set[str]) -> None:
    traced: list[str] = []

    async def main() -> None:
        tracer = Tracer(asyncio.get_running_loop().time, lambda _, kind, __: traced.append(str(kind)))
        runtime = ClientRuntime(Random(1), TableResolver(NAMES), tracer, connect=Refusals().connect)
        with pytest.raises(NetError):
            await Dialer(runtime, traced_from_connect=True).dial(host, 9092, broker=-1, limit=limit)

    asyncio.run(main())
    assert set(traced) == kinds
