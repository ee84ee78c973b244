"""Who gets a message that names no partition. Source: Shopify/sarama v1.27.2 partitioner.go.

A message that names its partition goes there, as with NewManualPartitioner.
"""

from collections.abc import Callable
from random import Random
from typing import Protocol

from client.profiles.sarama.message import ProducerMessage


class Partitioner(Protocol):
    """Chooses among `count` partitions. `requires_consistency`: among all, not only among those with a leader."""

    def requires_consistency(self, msg: ProducerMessage) -> bool: ...

    def partition(self, msg: ProducerMessage, count: int) -> int: ...


class RandomPartitioner:
    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def requires_consistency(self, msg: ProducerMessage) -> bool:
        return False

    def partition(self, msg: ProducerMessage, count: int) -> int:
        return self._rng.randrange(count)


class RoundRobinPartitioner:
    def __init__(self, rng: Random) -> None:
        self._next = 0

    def requires_consistency(self, msg: ProducerMessage) -> bool:
        return False

    def partition(self, msg: ProducerMessage, count: int) -> int:
        chosen = 0 if self._next >= count else self._next
        self._next = chosen + 1
        return chosen


class HashPartitioner:
    """By the key's hash; a message without key goes anywhere."""

    def __init__(self, rng: Random) -> None:
        self._random = RandomPartitioner(rng)

    def requires_consistency(self, msg: ProducerMessage) -> bool:
        return msg.key is not None

    def partition(self, msg: ProducerMessage, count: int) -> int:
        if msg.key is None:
            return self._random.partition(msg, count)
        signed = _fnv1a_32(msg.key)
        if signed >= 1 << 31:
            signed -= 1 << 32
        return abs(signed) % count  # Go's remainder keeps the dividend's sign; upstream then drops it


class NamedPartitioner:
    """The partition that the message names, else another partitioner's choice."""

    def __init__(self, other: Partitioner) -> None:
        self._other = other

    def requires_consistency(self, msg: ProducerMessage) -> bool:
        return msg.named_partition is not None or self._other.requires_consistency(msg)

    def partition(self, msg: ProducerMessage, count: int) -> int:
        return self._other.partition(msg, count) if msg.named_partition is None else msg.named_partition


PARTITIONERS: dict[str, Callable[[Random], Partitioner]] = {
    "hash": HashPartitioner,
    "random": RandomPartitioner,
    "roundrobin": RoundRobinPartitioner,
}
"""By the setting's value."""


def _fnv1a_32(data: bytes) -> int:
    """Source: Go's hash/fnv (New32a)."""
    value = 2166136261
    for byte in data:
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value
