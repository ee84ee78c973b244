"""Create a topic, and wait until the client knows it."""

from collections.abc import Mapping
from dataclasses import dataclass

from client.operations.base import Operation, optional_count, optional_text, required_text
from client.operations.handles import MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopics:
    """One topic. `handle` names the producer whose connections are used."""

    topic: str
    partitions: int
    replication: int
    handle: str = MAIN


def _parse(arguments: Mapping[str, object]) -> CreateTopics:
    handle = optional_text(arguments, "handle") or MAIN
    return CreateTopics(
        topic=required_text(arguments, "topic"),
        partitions=optional_count(arguments, "partitions", 1),
        replication=optional_count(arguments, "replication", 1),
        handle=handle,
    )


CREATE_TOPICS = Operation("create_topics", _parse)
