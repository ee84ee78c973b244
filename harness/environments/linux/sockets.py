"""The TCP sockets of a cell, as its kernel lists them (sock_diag), also those whose process has gone."""

from dataclasses import dataclass
from typing import Any

from pyroute2.netlink import NETLINK_SOCK_DIAG, NLM_F_MATCH, NLM_F_REQUEST, NLM_F_ROOT
from pyroute2.netlink.diag import (
    SOCK_DIAG_BY_FAMILY,
    SS_ALL,
    SS_CLOSE_WAIT,
    SS_CLOSING,
    SS_ESTABLISHED,
    SS_FIN_WAIT1,
    SS_LAST_ACK,
    SS_LISTEN,
    SS_TIME_WAIT,
    MarshalDiag,
    inet_diag_req,
)
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.nlsocket import AsyncNetlinkSocket

from harness.environments.linux.addresses import PORT
from harness.environments.linux.netlink_dump import dump
from harness.environments.world import WorldError

_IPV4, _TCP = 2, 6

_LISTED = SS_ALL & ~(1 << SS_LISTEN) & ~(1 << SS_TIME_WAIT)

_CLOSED_AND_SENDING = (SS_FIN_WAIT1, SS_CLOSING, SS_LAST_ACK)
_OPEN = (SS_ESTABLISHED, SS_CLOSE_WAIT)
_ENDED_BY_PEER = (SS_CLOSE_WAIT, SS_CLOSING, SS_LAST_ACK)
"""The kernel counts the peer's end as one byte more, until the process has read that far (tcp_diag_get_info)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSocket:
    """`unsent` bytes are not acknowledged by the peer yet, `unread` ones wait for the process."""

    state: int
    local: tuple[str, int]
    peer: str
    unsent: int
    unread: int

    def may_deliver(self) -> bool:
        """Whether bytes may still come to a broker through it: sent again by the kernel, or waiting to be read.

        What a server still sends goes to a client, and no log is written there.
        """
        if self.local[1] == PORT:
            return self.unread > 0
        return self.state in _CLOSED_AND_SENDING or (self.unsent > 0 and self.state in _OPEN)


class SocketTable:
    """Asks the kernel of the namespace in which it was opened, on the running event loop."""

    def __init__(self) -> None:
        self._netlink: Any = None

    async def __aenter__(self) -> "SocketTable":
        self._netlink = AsyncNetlinkSocket(NETLINK_SOCK_DIAG)
        try:
            self._netlink.set_marshal(MarshalDiag())
            await self._netlink.setup_endpoint()
        except (NetlinkError, OSError) as exc:
            raise _refused(exc) from exc
        return self

    async def __aexit__(self, *_: object) -> None:
        self._netlink.close()

    async def list_sockets(self) -> list[KernelSocket]:
        """Every TCP socket over IPv4 but listeners and TIME-WAIT. Raises WorldError."""
        request = inet_diag_req()
        request["sdiag_family"], request["sdiag_protocol"], request["idiag_states"] = _IPV4, _TCP, _LISTED
        flags = NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH
        try:
            return [
                KernelSocket(
                    state=found["idiag_state"],
                    local=(found["idiag_src"], found["idiag_sport"]),
                    peer=found["idiag_dst"],
                    unsent=found["idiag_wqueue"],
                    unread=max(0, found["idiag_rqueue"] - (found["idiag_state"] in _ENDED_BY_PEER)),
                )
                for found in await dump(lambda: self._netlink.nlm_request(request, SOCK_DIAG_BY_FAMILY, flags))
            ]
        except (NetlinkError, OSError) as exc:
            raise _refused(exc) from exc

    async def may_deliver(self) -> bool:
        """Whether any socket may still deliver something to a broker. Raises WorldError."""
        return any(found.may_deliver() for found in await self.list_sockets())

    async def established_peers(self, address: tuple[str, int]) -> list[str]:
        """The hosts at the other ends of the connections that are open at this address, one for each connection.

        Raises WorldError.
        """
        return [
            found.peer
            for found in await self.list_sockets()
            if found.local == address and found.state == SS_ESTABLISHED
        ]

    async def unread(self, address: tuple[str, int]) -> int:
        """How many connections at this address have bytes that were not read. Raises WorldError."""
        return sum(found.local == address and found.unread > 0 for found in await self.list_sockets())


def _refused(exc: Exception) -> WorldError:
    return WorldError(
        "sockets-unlisted", f"the kernel lists no sockets in a namespace ({exc}); it needs inet_diag, tcp_diag"
    )
