"""Addresses of brokers that are not there."""

from collections.abc import Sequence
from typing import Literal

from harness.levers import FLOWS, CloseListener, FilterPackets, Lever, PacketAction


def closed_ports(brokers: Sequence[int], how: Literal["refuse", "blackhole"]) -> tuple[Lever, ...]:
    """What makes these brokers' addresses refuse dials, or never answer."""
    if how == "refuse":
        return tuple(CloseListener(broker=broker) for broker in brokers)
    return tuple(
        FilterPackets(broker=broker, flow=flow, verdict=PacketAction.DROP) for broker in brokers for flow in FLOWS
    )
