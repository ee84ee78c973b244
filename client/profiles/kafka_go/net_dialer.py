"""The net.Dialer under everything: what it is made of, and how long it may take.

Source: segmentio/kafka-go v0.4.8 dialer.go (dialContext), writer.go (NewWriter); Go's net.Dialer.
"""

import asyncio
from dataclasses import dataclass

from client.golang import Dialer
from client.limit import Limit
from client.net.tcp import Address
from client.profiles.kafka_go.resolver import parse_local_address
from client.runtime import ClientRuntime
from client.settings import Settings

_GO_KEEP_ALIVE_S = 15.0
NO_LIMIT = Limit()


@dataclass(frozen=True, slots=True, kw_only=True)
class NetDialer:
    """`timeout` and `deadline_at`, a moment of the loop's clock, limit one dial; None: there is no such moment."""

    timeout: Limit = NO_LIMIT
    deadline_at: float | None = None
    deadline_settings: tuple[str, ...] = ()
    keep_alive_s: float | None
    local_address: Address | None = None
    fallback_delay_s: float = 0.0

    def dialer(self, runtime: ClientRuntime, *, traced_from_connect: bool = False) -> Dialer:
        return Dialer(
            runtime,
            traced_from_connect=traced_from_connect,
            keep_alive_s=self.keep_alive_s,
            local_address=self.local_address,
            fallback_delay_s=self.fallback_delay_s,
        )

    def within(self, left: Limit) -> Limit:
        """How long a dial that begins now may take, where its context has so much left. The earliest wins."""
        limits = [left, self.timeout]
        if self.deadline_at is not None:
            left_s = max(self.deadline_at - asyncio.get_running_loop().time(), 0.0)
            limits.append(Limit(left_s, self.deadline_settings))
        return min(limits, key=lambda limit: limit.seconds)


def programs_net_dialer(settings: Settings) -> NetDialer:
    """The one that a program makes itself, for a Transport's Dial or a Dialer's DialFunc."""
    return NetDialer(
        timeout=_timeout(settings, "NetDialer.Timeout"), keep_alive_s=_keep_alive_s(settings, "NetDialer.KeepAlive")
    )


def dialers_net_dialer(settings: Settings) -> NetDialer:
    """The one that a kafka.Dialer makes for each dial: the time is its context's."""
    return NetDialer(
        keep_alive_s=_keep_alive_s(settings, "Dialer.KeepAlive"),
        local_address=parse_local_address(settings.text("Dialer.LocalAddr")),
        fallback_delay_s=settings.seconds("Dialer.FallbackDelay"),
    )


def new_writers_net_dialer(settings: Settings) -> NetDialer:
    """The one that NewWriter makes of a kafka.Dialer. Called when that Dialer is made."""
    return NetDialer(
        timeout=_timeout(settings, "Dialer.Timeout"),
        deadline_at=deadline_at(settings),
        deadline_settings=("Dialer.Deadline",),
        keep_alive_s=_keep_alive_s(settings, "Dialer.KeepAlive"),
        local_address=parse_local_address(settings.text("Dialer.LocalAddr")),
        fallback_delay_s=settings.seconds("Dialer.FallbackDelay"),
    )


def deadline_at(settings: Settings) -> float | None:
    """The Deadline of a Dialer that is made now, None where it has none."""
    deadline_s = settings.seconds("Dialer.Deadline")
    return asyncio.get_running_loop().time() + deadline_s if deadline_s != 0 else None


def _timeout(settings: Settings, name: str) -> Limit:
    """A Timeout of 0 is none; one below 0 is over before it begins."""
    seconds = settings.seconds(name)
    return Limit(max(seconds, 0.0), (name,)) if seconds != 0 else NO_LIMIT


def _keep_alive_s(settings: Settings, name: str) -> float | None:
    seconds = settings.seconds(name)
    return None if seconds < 0 else seconds or _GO_KEEP_ALIVE_S
