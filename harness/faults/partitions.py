"""Which partitions a fault means: the field that faults of leadership have."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from harness.cluster_view import ClusterView, PartitionView
from harness.faults.brokers import SelectorError, partition_of

PartitionName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._-]+/\d+$"),
    Field(description="A topic and the number of a partition, such as `orders/0`"),
]
_NAMED = re.compile(r"(?:leader\()?([A-Za-z0-9._-]+)/(\d+)\)?")


def named_partition(name: str, view: ClusterView) -> tuple[str, int, PartitionView]:
    """The topic, the partition's number, and the partition now. Raises SelectorError where there is none."""
    topic, _, number = name.rpartition("/")
    return topic, int(number), partition_of(topic, int(number), name, view)


def other_replica(name: str, view: ClusterView) -> int:
    """The replica after the leader. Raises SelectorError where there is no other."""
    _, _, partition = named_partition(name, view)
    others = [broker for broker in partition.replicas if broker != partition.leader]
    if not others:
        text = f"{name} has one replica: no other broker can lead it"
        raise SelectorError("no-replica", text, "give the topic a `replication` above 1", name)
    return others[0]


def partitions_named(parameters: BaseModel) -> list[tuple[str, int]]:
    """The topics and numbers of the partitions that a fault's parameters name, in selectors, too."""
    values = [getattr(parameters, name) for name in type(parameters).model_fields]
    texts: Iterable[object] = (item for value in values for item in (value if isinstance(value, tuple) else (value,)))
    found = (_NAMED.fullmatch(text) for text in texts if isinstance(text, str))
    return list(dict.fromkeys((match[1], int(match[2])) for match in found if match))
