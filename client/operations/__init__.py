"""The operations of the subject protocol as a client meets them: one file an operation or a family of
them, shared by all profiles.

A file holds what its command may carry and how that is checked; what the operation does is the profile's.
"""

from client.operations.base import CommandError, Handler, Operation, Result
from client.operations.close import CLOSE, Close
from client.operations.close_idle import CLOSE_IDLE, CloseIdle
from client.operations.connect import CONNECT, Connect
from client.operations.context import Cancellation, Context
from client.operations.create_topics import CREATE_TOPICS, CreateTopics
from client.operations.dialer import (
    DIAL,
    DIAL_LEADER,
    DIAL_PARTITION,
    LOOKUP_LEADER,
    LOOKUP_PARTITION,
    LOOKUP_PARTITIONS,
    Dial,
    OfPartition,
    OfTopic,
)
from client.operations.handles import MAIN, Handle, Handles
from client.operations.list_offsets import LIST_OFFSETS, ListOffsets
from client.operations.new_transport import NEW_TRANSPORT, NewTransport
from client.operations.send import SEND, Send

__all__ = [
    "CLOSE",
    "CLOSE_IDLE",
    "CONNECT",
    "CREATE_TOPICS",
    "DIAL",
    "DIAL_LEADER",
    "DIAL_PARTITION",
    "LIST_OFFSETS",
    "LOOKUP_LEADER",
    "LOOKUP_PARTITION",
    "LOOKUP_PARTITIONS",
    "MAIN",
    "NEW_TRANSPORT",
    "SEND",
    "Cancellation",
    "Close",
    "CloseIdle",
    "CommandError",
    "Connect",
    "Context",
    "CreateTopics",
    "Dial",
    "Handle",
    "Handler",
    "Handles",
    "ListOffsets",
    "NewTransport",
    "OfPartition",
    "OfTopic",
    "Operation",
    "Result",
    "Send",
]
