"""The name server of a run: knows the brokers' names, and lies about them where a lever says so."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

from client.net.dns import Answer, Question, RecordKind, ResponseCode, decode_question, encode_answer
from harness.brokers.names import NAME_SERVER, AddressLookup, broker_name
from harness.environments.lever_table import PulledLever
from harness.environments.world import ActiveLever
from harness.levers import DARK_IPV6, AnswerNames, LookupsMet
from harness.plan import ClusterShape
from harness.sightings import Sightings

LOOPBACK_IPV6 = "::1"
"""The address of DARK_IPV6: the only one of its family that every machine has, and Go dials it first (RFC 6724)."""


class NameServer(asyncio.DatagramProtocol):
    """Nobody but the client asks it, so what it counts is the client's. Levers on one name add up: delays as sums, and
    the last one's addresses count."""

    def __init__(self, cluster: ClusterShape, addresses: AddressLookup, now_ns: Callable[[], int]) -> None:
        """`addresses`: where brokers' proxies listen."""
        self._brokers = {broker_name(broker): broker for broker in cluster.broker_ids}
        self._addresses = addresses
        self._now_ns = now_ns
        self._levers: list[tuple[AnswerNames, Sightings]] = []
        self._transport: asyncio.DatagramTransport | None = None

    async def open(self) -> None:
        """Answer from now on. Raises OSError."""
        await asyncio.get_running_loop().create_datagram_endpoint(lambda: self, local_addr=NAME_SERVER)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def close(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def dispose(self) -> None:
        """The simulation is over: hold nothing any more."""
        self._transport = None

    @asynccontextmanager
    async def pull(self, lever: AnswerNames) -> AsyncIterator[ActiveLever]:
        """The lever is in force while the context is entered."""
        pulled = (lever, seen := Sightings())

        async def collect(since_ns: int | None, until_ns: int | None) -> LookupsMet:
            return LookupsMet(questions=seen.count(since_ns, until_ns))

        began_ns = self._now_ns()
        self._levers.append(pulled)
        try:
            yield PulledLever(began_ns, began_ns, collect)
        finally:
            self._levers.remove(pulled)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        try:
            question = decode_question(data)
            unknown = encode_answer(question, Answer(question.number, ResponseCode.NO_SUCH_NAME))
        except ValueError:  # also of a name that no host can have
            return
        broker = self._brokers.get(question.name.lower())
        if broker is None:
            self._send(unknown, addr)
            return
        in_force = [(lever, seen) for lever, seen in self._levers if lever.broker == broker]
        for _, seen in in_force:
            seen.add(self._now_ns())
        numbers = next((one.addresses for one, _ in reversed(in_force) if one.addresses is not None), (broker,))
        answer = Answer(question.number, ResponseCode.NO_ERROR, self._of_kind(question, numbers))
        delay_s = sum(lever.delay_s for lever, _ in in_force)
        asyncio.get_running_loop().call_later(delay_s, self._send, encode_answer(question, answer), addr)

    def _of_kind(self, question: Question, numbers: tuple[int, ...]) -> tuple[str, ...]:
        """The addresses that are asked for."""
        hosts = [LOOPBACK_IPV6 if number == DARK_IPV6 else self._addresses(number)[0] for number in numbers]
        if question.kind not in (RecordKind.A, RecordKind.AAAA):
            return ()
        kind = RecordKind(question.kind)
        return tuple(host for host in hosts if kind.holds(host))

    def _send(self, answer: bytes, addr: tuple[str, int]) -> None:
        if self._transport is not None:
            self._transport.sendto(answer, addr)
