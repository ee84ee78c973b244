"""How the partition of a message is chosen. Source: segmentio/kafka-go v0.4.8, v0.4.9 and v0.4.50 balancer.go.

A message that names its partition goes there: the program around the library has a balancer for that.
"""

import zlib
from collections.abc import Callable
from random import Random
from typing import Protocol

from client.golang.hashes import fnv1a_32, murmur2


class Balancer(Protocol):
    """Chooses one of `count` partitions."""

    def balance(self, key: bytes | None, value: bytes, count: int) -> int: ...


class RoundRobin:
    """One after the other. ChunkSize, which v0.4.50 has, is left at 1."""

    def __init__(self, rng: Random) -> None:
        self._offset = 0

    def balance(self, key: bytes | None, value: bytes, count: int) -> int:
        chosen = self._offset % count
        self._offset += 1
        return chosen


class LeastBytes:
    """The partition that got the fewest bytes."""

    def __init__(self, rng: Random) -> None:
        self._bytes: list[int] = []

    def balance(self, key: bytes | None, value: bytes, count: int) -> int:
        if len(self._bytes) != count:
            self._bytes = [0] * count
        chosen = self._bytes.index(min(self._bytes))
        self._bytes[chosen] += len(key or b"") + len(value)
        return chosen


class KeyBalancer:
    """By the key; a message without one is another balancer's, with `empty_is_none` also one whose key is empty."""

    def __init__(
        self, choose: Callable[[bytes, int], int], without_key: Balancer, *, empty_is_none: bool = False
    ) -> None:
        self._choose = choose
        self._without_key = without_key
        self._empty_is_none = empty_is_none

    def balance(self, key: bytes | None, value: bytes, count: int) -> int:
        if key is None or (self._empty_is_none and not key):
            return self._without_key.balance(key, value, count)
        return self._choose(key, count)


class RandomBalancer:
    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def balance(self, key: bytes | None, value: bytes, count: int) -> int:
        return self._rng.randrange(count)


def _by_hash(key: bytes, count: int) -> int:
    """Go's remainder keeps the dividend's sign, which upstream then drops."""
    unsigned = fnv1a_32(key)
    return abs(unsigned - (1 << 32) if unsigned >= 1 << 31 else unsigned) % count


NEWER_BALANCERS = ("ReferenceHash",)
"""What came after v0.4.9."""

BALANCERS: dict[str, Callable[[Random], Balancer]] = {
    "RoundRobin": RoundRobin,
    "LeastBytes": LeastBytes,
    "Hash": lambda rng: KeyBalancer(_by_hash, RoundRobin(rng)),
    "CRC32Balancer": lambda rng: KeyBalancer(
        lambda key, count: zlib.crc32(key) % count, RandomBalancer(rng), empty_is_none=True
    ),
    "Murmur2Balancer": lambda rng: KeyBalancer(
        lambda key, count: (murmur2(key) & 0x7FFFFFFF) % count, RandomBalancer(rng)
    ),
    "ReferenceHash": lambda rng: KeyBalancer(
        lambda key, count: (fnv1a_32(key) & 0x7FFFFFFF) % count, RandomBalancer(rng)
    ),
}
"""By the setting's value."""
