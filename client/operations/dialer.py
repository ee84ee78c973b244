"""What a Dialer is asked for: to open connections, and to find out who leads a partition."""

from collections.abc import Mapping
from dataclasses import dataclass

from client.operations.base import Operation, optional_count, optional_text, required_text
from client.operations.handles import MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """`address` is where to, as a program writes it: its port may be missing. None: the first bootstrap address.
    `handle` names the Dialer."""

    address: str | None = None
    handle: str = MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class OfTopic:
    """`address` is whom to ask, as for `Dial`."""

    topic: str
    address: str | None = None
    handle: str = MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPartition:
    """`address` is whom to ask, as for `Dial`."""

    topic: str
    partition: int
    address: str | None = None
    handle: str = MAIN


def _parse_dial(arguments: Mapping[str, object]) -> Dial:
    return Dial(
        address=optional_text(arguments, "address"),
        handle=optional_text(arguments, "handle") or MAIN,
    )


def _parse_topic(arguments: Mapping[str, object]) -> OfTopic:
    asked = _parse_dial(arguments)
    return OfTopic(topic=required_text(arguments, "topic"), address=asked.address, handle=asked.handle)


def _parse_partition(arguments: Mapping[str, object]) -> OfPartition:
    asked = _parse_topic(arguments)
    return OfPartition(
        topic=asked.topic,
        partition=optional_count(arguments, "partition", 0),
        address=asked.address,
        handle=asked.handle,
    )


DIAL = Operation("dial", _parse_dial)
DIAL_LEADER = Operation("dial_leader", _parse_partition)
DIAL_PARTITION = Operation("dial_partition", _parse_partition)
LOOKUP_LEADER = Operation("lookup_leader", _parse_partition)
LOOKUP_PARTITION = Operation("lookup_partition", _parse_partition)
LOOKUP_PARTITIONS = Operation("lookup_partitions", _parse_topic)
