"""Ask for the last offset of each partition of a topic."""

from collections.abc import Mapping
from dataclasses import dataclass

from client.operations.base import Operation, optional_count, optional_text, required_text
from client.operations.handles import MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOffsets:
    """`partitions` is how many are asked for, from 0. `handle` names the producer whose connections are used."""

    topic: str
    partitions: int
    handle: str = MAIN


def _parse(arguments: Mapping[str, object]) -> ListOffsets:
    handle = optional_text(arguments, "handle") or MAIN
    return ListOffsets(
        topic=required_text(arguments, "topic"), partitions=optional_count(arguments, "partitions", 1), handle=handle
    )


LIST_OFFSETS = Operation("list_offsets", _parse)
