"""Send one message and wait for its acknowledgement."""

from collections.abc import Mapping
from dataclasses import dataclass

from client.operations.base import CommandError, Operation, optional_text, required_text
from client.operations.handles import MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """`partition` is None where the client chooses. `handle` names the producer."""

    topic: str
    partition: int | None
    key: bytes | None
    value: bytes
    handle: str = MAIN


def _parse(arguments: Mapping[str, object]) -> Send:
    topic, value = required_text(arguments, "topic"), required_text(arguments, "value")
    key, partition = optional_text(arguments, "key"), arguments.get("partition")
    if partition is not None and (not isinstance(partition, int) or isinstance(partition, bool) or partition < 0):
        raise CommandError("partition is no number from 0")
    return Send(
        topic=topic,
        partition=partition,
        key=None if key is None else key.encode(),
        value=value.encode(),
        handle=optional_text(arguments, "handle") or MAIN,
    )


SEND = Operation("send", _parse)
