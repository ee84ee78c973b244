"""Every lever, one file each: its parameters, and the evidence of its effect.

A fault is data: it returns levers and knows no environment. An environment pulls levers and knows no fault.
"""

from harness.levers.base import FLOWS, LEVERS, BrokerLever, Evidence, Flow, Lever, lever
from harness.levers.delays import Delays, Spread
from harness.levers.intercept import (
    DelayedResponse,
    ErrorAnswer,
    Intercept,
    InterceptResponse,
    RequestsIntercepted,
    Silence,
)
from harness.levers.listener import CloseListener
from harness.levers.packets import (
    HOOKS,
    ConnectionsCut,
    DialsDelayed,
    DialsRefused,
    FilterPackets,
    Hook,
    PacketAction,
    PacketsDropped,
)
from harness.levers.signal import RequestsUnread, Signal
from harness.levers.toxic import DelaySeen, Toxic

__all__ = [
    "FLOWS",
    "HOOKS",
    "LEVERS",
    "BrokerLever",
    "CloseListener",
    "ConnectionsCut",
    "DelaySeen",
    "DelayedResponse",
    "Delays",
    "DialsDelayed",
    "DialsRefused",
    "ErrorAnswer",
    "Evidence",
    "FilterPackets",
    "Flow",
    "Hook",
    "Intercept",
    "InterceptResponse",
    "Lever",
    "PacketAction",
    "PacketsDropped",
    "RequestsIntercepted",
    "RequestsUnread",
    "Signal",
    "Silence",
    "Spread",
    "Toxic",
    "lever",
]
