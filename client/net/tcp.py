"""Connecting to one address. Which addresses are tried, and for how long each, is a client's own policy."""

import asyncio
import encodings.idna  # noqa: F401 - asyncio loads it at its first dial, which would be timed
import socket
from dataclasses import dataclass
from math import ceil
from typing import Protocol, cast

from client.net.address import join_host_port
from client.net.errors import Cause, NetError, Phase, from_os_error
from client.net.stream import Stream

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """TCP keep-alives: probes begin when nothing has come for `idle_s`, and follow each other by `interval_s`; once so
    many `probes` have not been answered, the kernel ends the connection with ETIMEDOUT (tcp(7)). Whole seconds count,
    and a part of one as a whole."""

    idle_s: float
    interval_s: float
    probes: int


class ConnectFunction(Protocol):
    """Opens a stream to an address, given as text, until `deadline_at` on the loop's clock, None: without a limit.

    `keep_alive` None: none are sent. `local_address` is what the socket is bound to, None: the kernel chooses; port 0
    is any. Raises NetError in phase CONNECT.
    """

    async def __call__(
        self,
        ip: str,
        port: int,
        *,
        deadline_at: float | None,
        keep_alive: KeepAlive | None,
        local_address: Address | None = None,
    ) -> Stream: ...


async def connect(
    ip: str,
    port: int,
    *,
    deadline_at: float | None,
    keep_alive: KeepAlive | None,
    local_address: Address | None = None,
) -> Stream:
    """The ConnectFunction of the running loop: real sockets, or simulated ones."""
    remote = join_host_port(ip, port)
    local = None if local_address is None else join_host_port(*local_address)
    try:
        async with asyncio.timeout_at(deadline_at):
            transport, stream = await asyncio.get_running_loop().create_connection(
                lambda: Stream(remote), ip, port, local_addr=local_address
            )
    except OSError as error:
        if isinstance(error, TimeoutError) and error.errno is None:
            raise NetError(Phase.CONNECT, Cause.TIMEOUT, remote, local) from error
        raise from_os_error(Phase.CONNECT, error, remote, local) from error
    if keep_alive is not None:
        _keep_alive(cast(socket.socket, transport.get_extra_info("socket")), keep_alive)
    return stream


def _keep_alive(tcp: socket.socket, wanted: KeepAlive) -> None:
    """The simulation's sockets know these options, too."""
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, ceil(wanted.idle_s))
    tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, ceil(wanted.interval_s))
    tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, wanted.probes)
