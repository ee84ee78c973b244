"""Every lever, one file each: its parameters, and the evidence of its effect.

A fault is data: it returns levers and knows no environment. An environment pulls levers and knows no fault.
"""

from harness.levers.base import FLOWS, LEVERS, BrokerLever, Evidence, Flow, Lever, lever
from harness.levers.cluster import (
    CapVersions,
    ChangeCluster,
    ChangeMet,
    ClusterChange,
    DeleteTopic,
    DepartureMet,
    FenceBroker,
    HoldState,
    MoveLeader,
    RemoveLeader,
    RemoveMembers,
    StopReplicating,
)
from harness.levers.delays import Delays, Spread
from harness.levers.intercept import (
    DamagedFrame,
    DelayedResponse,
    ErrorAnswer,
    FrameDamage,
    Intercept,
    InterceptResponse,
    LateHandling,
    OrdinaryAnswer,
    RequestsIntercepted,
    Silence,
    WrongCorrelation,
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
from harness.levers.signal import SESSION_S, RequestsUnread, Signal
from harness.levers.toxic import DelaySeen, Toxic

__all__ = [
    "FLOWS",
    "HOOKS",
    "LEVERS",
    "SESSION_S",
    "BrokerLever",
    "CapVersions",
    "ChangeCluster",
    "ChangeMet",
    "CloseListener",
    "ClusterChange",
    "ConnectionsCut",
    "DamagedFrame",
    "DelaySeen",
    "DelayedResponse",
    "Delays",
    "DeleteTopic",
    "DepartureMet",
    "DialsDelayed",
    "DialsRefused",
    "ErrorAnswer",
    "Evidence",
    "FenceBroker",
    "FilterPackets",
    "Flow",
    "FrameDamage",
    "HoldState",
    "Hook",
    "Intercept",
    "InterceptResponse",
    "LateHandling",
    "Lever",
    "MoveLeader",
    "OrdinaryAnswer",
    "PacketAction",
    "PacketsDropped",
    "RemoveLeader",
    "RemoveMembers",
    "RequestsIntercepted",
    "RequestsUnread",
    "Signal",
    "Silence",
    "Spread",
    "StopReplicating",
    "Toxic",
    "WrongCorrelation",
    "lever",
]
