"""The controller's end of the channel to a broker that is a process: states go out, `ready` and its like come back.

Both ends speak JSON lines over a connected socket. Out: a cluster's state, one a line, the first one before all.
Back: `{"ready":["127.0.1.1",9092]}` once, then `{"applied":EPOCH}` for each later state; `{"failed":"why"}` before the
broker ends by itself. The channel is the broker's life, too: when it closes, the broker exits.
"""

import asyncio
import json
import socket
from typing import Any

from harness.brokers.embedded.cluster import ClusterState, encode_state


class BrokerFailed(Exception):
    """The broker's process could not start, or has ended; the text says which and why."""


class BrokerLink:
    """One broker's channel. `push` never waits: a paused broker finds what it missed when it goes on."""

    def __init__(self, broker_id: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._broker_id = broker_id
        self._reader = reader
        self._writer = writer
        self._applied = -1

    @classmethod
    async def over(cls, broker_id: int, channel: socket.socket) -> "BrokerLink":
        """Take the controller's half of a socket pair; the other half is `run_broker`'s."""
        reader, writer = await asyncio.open_connection(sock=channel)
        return cls(broker_id, reader, writer)

    def push(self, state: ClusterState) -> None:
        """Send a state; give this to `Controller.attach`. Nothing happens where the broker has ended."""
        if not self._writer.is_closing():
            self._writer.write(encode_state(state).encode() + b"\n")

    async def ready(self) -> tuple[str, int]:
        """Wait until the broker listens; return its address. Raises BrokerFailed."""
        said = await self._said()
        if "ready" not in said:
            raise BrokerFailed(f"broker {self._broker_id} said {said} where ready was expected")
        host, port = said["ready"]
        return str(host), int(port)

    async def applied(self, epoch: int) -> None:
        """Wait until the broker has taken the state of that epoch or a later one. Raises BrokerFailed."""
        while self._applied < epoch:
            self._applied = int((await self._said())["applied"])

    def close(self) -> None:
        """Let go of the broker: its process exits."""
        self._writer.transport.abort()

    async def _said(self) -> dict[str, Any]:
        try:
            line = await self._reader.readline()
        except OSError:
            line = b""
        if not line:
            raise BrokerFailed(f"broker {self._broker_id} has ended")
        said = json.loads(line)
        if "failed" in said:
            raise BrokerFailed(f"broker {self._broker_id}: {said['failed']}")
        return dict(said)
