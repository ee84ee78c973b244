"""TCP keep-alives: an idle connection is probed, and ends where no probe is answered.

Source: Linux net/ipv4/tcp_timer.c (tcp_keepalive_timer), tcp.c (tcp_sock_set_keepidle_locked).
"""

from __future__ import annotations

import socket as options
from errno import ETIMEDOUT
from typing import TYPE_CHECKING

from harness.environments.sim.segment import ACK, RST

if TYPE_CHECKING:
    from harness.environments.sim.loop import KernelTimer
    from harness.environments.sim.socket import TcpSocket

_IDLE_S, _INTERVAL_S, _PROBES = 7200.0, 75.0, 9
"""net.ipv4.tcp_keepalive_time, tcp_keepalive_intvl and tcp_keepalive_probes."""


class KeepAlive:
    """Of one connected socket. Nothing is probed while something of ours is on its way: retransmissions decide then."""

    __slots__ = ("_heard_at", "_idle_s", "_interval_s", "_probes", "_socket", "_timer", "_unanswered")

    def __init__(self, socket: TcpSocket) -> None:
        self._socket = socket
        self._idle_s, self._interval_s, self._probes = _IDLE_S, _INTERVAL_S, _PROBES
        self._heard_at = socket.loop.now
        self._unanswered = 0
        self._timer: KernelTimer | None = None
        self._arm(self._idle_s)

    def set(self, option: int, value: int) -> None:
        """TCP_KEEPIDLE, TCP_KEEPINTVL or TCP_KEEPCNT; seconds and a number."""
        if option == options.TCP_KEEPIDLE:
            self._idle_s = float(value)
            self._arm(max(0.0, self._idle_s - self._silent_s))
        elif option == options.TCP_KEEPINTVL:
            self._interval_s = float(value)
        elif option == options.TCP_KEEPCNT:
            self._probes = value

    def heard(self) -> None:
        """A segment has come."""
        self._heard_at = self._socket.loop.now
        self._unanswered = 0

    def dispose(self) -> None:
        """The connection is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        del self._socket  # or it and this hold each other

    @property
    def _silent_s(self) -> float:
        return self._socket.loop.now - self._heard_at

    def _arm(self, delay_s: float) -> None:
        loop = self._socket.loop
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_kernel_at(self._socket.network.wheel.fires_at(loop.now, delay_s), self._fired)

    def _fired(self) -> None:
        self._timer = None
        socket = self._socket
        if socket.orphan:
            return
        if socket.sender.busy:
            self._arm(self._idle_s)
        elif self._silent_s < self._idle_s:
            self._arm(self._idle_s - self._silent_s)
        elif self._unanswered >= self._probes:
            socket.emit(RST | ACK, socket.sender.next_seq)
            socket.fail(ETIMEDOUT)
        else:
            socket.emit(ACK, socket.sender.next_seq - 1)
            self._unanswered += 1
            self._arm(self._interval_s)
