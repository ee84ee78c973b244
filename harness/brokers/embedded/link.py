"""The controller's end of the channel to a broker that is a process: states and commands go out, messages come back.

Both ends speak JSON lines over a connected socket. Out: a cluster's state, one a line, the first one before all;
`{"intercept":{...},"number":N,"seen":0}` and `{"release":N}`. Back: `{"ready":["127.0.1.1",9092]}` once,
`{"applied":EPOCH}` for each state, `{"intercepting":N}`, `{"released":N}`, `{"seen":N}` at each request among which an
intercept chooses, and `{"intercepted":[N,AT_NS]}` at each that it takes, with the moment on the machine's monotonic
clock, null for a request of the lab's own; `{"create":[...]}` for a topic that a client asked for; `{"failed":"why"}`
before the broker ends by itself. The channel is the broker's life, too: when it closes, the broker exits.
"""

import asyncio
import json
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from harness.brokers.cluster import BrokerFailed
from harness.brokers.embedded.cluster import ClusterState, encode_state
from harness.brokers.embedded.intercepts import encode_intercept
from harness.brokers.embedded.node import CreateTopic
from harness.levers import Intercept
from harness.sightings import Sightings

T = TypeVar("T")

_LIMIT_S = 5.0
"""For a broker to confirm a command: it takes milliseconds, but a paused one never does."""


class BrokerLink:
    """One broker's channel. `push` never waits: a paused broker reads what it missed when it is resumed."""

    def __init__(
        self,
        broker_id: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        interceptions: Mapping[int, Sightings],
        create_topic: CreateTopic | None = None,
        seen: Counter[int] | None = None,
    ) -> None:
        self._broker_id = broker_id
        self._reader = reader
        self._writer = writer
        self._address: tuple[str, int] | None = None
        self._applied = -1
        self._in_force: set[int] = set()
        self._interceptions = interceptions
        self._create_topic = create_topic
        self._seen = Counter() if seen is None else seen
        self._failed: str | None = None
        self._waiters: list[asyncio.Future[None]] = []
        self._listening = asyncio.create_task(self._listen(), name=f"broker {broker_id}")

    @classmethod
    async def from_socket(
        cls,
        broker_id: int,
        channel: socket.socket,
        interceptions: Mapping[int, Sightings] = MappingProxyType({}),
        create_topic: CreateTopic | None = None,
        seen: Counter[int] | None = None,
    ) -> "BrokerLink":
        """Take the controller's half of a socket pair; the other half is `run_broker`'s.

        Requests that are intercepted under a number are added to `interceptions` of that number, those among which it
        chooses to `seen`. `create_topic` is the controller's, for topics that the broker is asked for.
        """
        reader, writer = await asyncio.open_connection(sock=channel)
        return cls(broker_id, reader, writer, interceptions, create_topic, seen)

    def push(self, state: ClusterState) -> None:
        """Send a state; give this to `Controller.attach`. Nothing happens where the broker has ended."""
        self._send(encode_state(state))

    async def ready(self) -> tuple[str, int]:
        """Wait until the broker listens; return its address. Raises BrokerFailed."""
        return await self._until(lambda: self._address)

    async def applied(self, epoch: int) -> None:
        """Wait until the broker has taken the state of that epoch or a later one. Raises BrokerFailed."""
        await self._within_limit(lambda: self._applied >= epoch or None)

    async def intercept(self, number: int, intercept: Intercept) -> None:
        """Have requests intercepted, under a number that no other intercept has; on return they are.

        One that a killed process of the broker had goes on choosing where it was.

        Raises BrokerFailed.
        """
        self.send_intercept(number, intercept)
        await self._within_limit(lambda: number in self._in_force or None)

    def send_intercept(self, number: int, intercept: Intercept) -> None:
        """The same without waiting."""
        seen = self._seen[number]
        self._send(json.dumps({"intercept": encode_intercept(intercept), "number": number, "seen": seen}))

    async def release(self, number: int) -> None:
        """Have nothing more intercepted under that number. Raises BrokerFailed."""
        self.send_release(number)
        await self._within_limit(lambda: number not in self._in_force or None)

    def send_release(self, number: int) -> None:
        """The same without waiting."""
        self._send(json.dumps({"release": number}))

    @property
    def ended(self) -> bool:
        """Whether the broker's end of the channel is gone."""
        return self._failed is not None

    def close(self) -> None:
        """Close the channel: the broker's process exits."""
        self._writer.transport.abort()

    def _send(self, line: str) -> None:
        if not self._writer.is_closing():
            self._writer.write(line.encode() + b"\n")

    async def _within_limit(self, found: Callable[[], T | None]) -> T:
        try:
            async with asyncio.timeout_at(asyncio.get_running_loop().time() + _LIMIT_S):
                return await self._until(found)
        except TimeoutError:
            text = f"broker {self._broker_id} has not carried out a command within {_LIMIT_S:g} s: is it paused?"
            raise BrokerFailed(text) from None

    async def _until(self, found: Callable[[], T | None]) -> T:
        """What `found` gives, as soon as it gives something. Raises BrokerFailed where the broker ends before."""
        while True:
            result = found()
            if result is not None:
                return result
            if self._failed is not None:
                raise BrokerFailed(self._failed)
            changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(changed)
            await changed

    async def _listen(self) -> None:
        failed = f"broker {self._broker_id} has ended"
        try:
            while line := await self._reader.readline():
                message = json.loads(line)
                if "failed" in message:
                    failed = f"broker {self._broker_id}: {message['failed']}"
                    break
                self._take(message)
                self._wake_waiters()
        except OSError:
            pass
        self._failed = failed
        self._wake_waiters()

    def _take(self, message: dict[str, Any]) -> None:
        match message:
            case {"ready": [host, port]}:
                self._address = str(host), int(port)
            case {"applied": epoch}:
                self._applied = int(epoch)
            case {"intercepting": number}:
                self._in_force.add(number)
            case {"released": number}:
                self._in_force.discard(number)
            case {"create": [name, partitions, replication]}:
                if self._create_topic is not None:
                    self._create_topic(name, partitions, replication)
            case {"seen": number}:
                self._seen[number] += 1
            case {"intercepted": [number, at_ns]}:
                self._interceptions[number].add(at_ns)

    def _wake_waiters(self) -> None:
        waiters, self._waiters = self._waiters, []
        for future in waiters:
            if not future.done():
                future.set_result(None)
