"""How the partition of a message is chosen that names none.

Source: Shopify/sarama v1.27.2 partitioner.go, IBM/sarama v1.60.1 partitioner.go, murmur2.go.

A message that names its partition goes there, as with NewManualPartitioner.
"""

import zlib
from collections.abc import Callable
from random import Random
from typing import Protocol

from client.golang.hashes import fnv1a_32, murmur2
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


class ManualPartitioner:
    """The partition in the message, which is 0 unless the caller set it."""

    def __init__(self, rng: Random) -> None:
        pass

    def requires_consistency(self, msg: ProducerMessage) -> bool:
        return True

    def partition(self, msg: ProducerMessage, count: int) -> int:
        return msg.explicit_partition or 0


class KeyPartitioner:
    """By the key; a message without one gets a random partition."""

    def __init__(self, rng: Random, choose: Callable[[bytes, int], int]) -> None:
        self._random = RandomPartitioner(rng)
        self._choose = choose

    def requires_consistency(self, msg: ProducerMessage) -> bool:
        return msg.key is not None

    def partition(self, msg: ProducerMessage, count: int) -> int:
        if msg.key is None:
            return self._random.partition(msg, count)
        return self._choose(msg.key, count)


class ExplicitPartitioner:
    """The partition that the message names, else another partitioner's choice."""

    def __init__(self, other: Partitioner) -> None:
        self._other = other

    def requires_consistency(self, msg: ProducerMessage) -> bool:
        return msg.explicit_partition is not None or self._other.requires_consistency(msg)

    def partition(self, msg: ProducerMessage, count: int) -> int:
        return self._other.partition(msg, count) if msg.explicit_partition is None else msg.explicit_partition


def _by_hash(key: bytes, count: int) -> int:
    """NewHashPartitioner. Go's remainder keeps the dividend's sign, which upstream then drops."""
    unsigned = fnv1a_32(key)
    return abs(unsigned - (1 << 32) if unsigned >= 1 << 31 else unsigned) % count


def _by_reference_hash(key: bytes, count: int) -> int:
    """NewReferenceHashPartitioner."""
    return (fnv1a_32(key) & 0x7FFFFFFF) % count


def _by_crc(key: bytes, count: int) -> int:
    """NewConsistentCRCHashPartitioner: librdkafka's choice."""
    return zlib.crc32(key) % count


def _by_murmur2(key: bytes, count: int) -> int:
    """NewMurmur2Partitioner: the Java producer's choice."""
    return (murmur2(key) & 0x7FFFFFFF) % count


PARTITIONERS: dict[str, Callable[[Random], Partitioner]] = {
    "hash": lambda rng: KeyPartitioner(rng, _by_hash),
    "random": RandomPartitioner,
    "roundrobin": RoundRobinPartitioner,
    "manual": ManualPartitioner,
    "referencehash": lambda rng: KeyPartitioner(rng, _by_reference_hash),
    "consistentcrchash": lambda rng: KeyPartitioner(rng, _by_crc),
    "murmur2": lambda rng: KeyPartitioner(rng, _by_murmur2),
}
"""By the setting's value."""
