"""A listener whose accept queue is full, and what the kernel counts of dials that meet it.

A queue holds one connection more than its backlog; while it is full, the kernel drops further SYNs without an answer
and counts each (Linux net/ipv4/tcp_input.c, tcp_conn_request; proc_net_netstat of the kernel's documentation).
"""

import socket
from itertools import pairwise
from pathlib import Path

from harness.environments.world import WorldError

_NETSTAT = Path("/proc/net/netstat")
_COUNTED = "ListenOverflows"


class FullQueue:
    """Made when it is first required, in the network namespace of that moment; it then stays full."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._address = address
        self._listener: socket.socket | None = None
        self._waiting: socket.socket | None = None

    def require(self) -> None:
        """Have the listener, and in its queue the one connection that it has room for. Raises WorldError."""
        if self._listener is not None:
            return
        try:
            family = socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET
            self._listener = socket.create_server(self._address, family=family, backlog=0)
            self._waiting = socket.create_connection(self._address, timeout=1.0)
        except OSError as exc:
            raise WorldError("queue-unfilled", f"the kernel makes no full accept queue ({exc})") from exc

    def close(self) -> None:
        for one in (self._waiting, self._listener):
            if one is not None:
                one.close()


def listen_overflows() -> int:
    """SYNs and last acknowledgements of handshakes that found a full accept queue in this network namespace.

    Raises WorldError.
    """
    for names, values in pairwise(_NETSTAT.read_text().splitlines()):
        group, *listed = names.split()
        if group == "TcpExt:" and _COUNTED in listed:
            return int(values.split()[1 + listed.index(_COUNTED)])
    raise WorldError("queue-uncounted", f"{_NETSTAT} has no {_COUNTED}: what met a full queue cannot be counted")
