"""The order in which Go walks a map. It decides which broker a program gets that takes "any" one from a map.

Up to eight entries lie in one group of eight slots: a new one takes the first free slot, also one that another left. A
walk starts at a slot drawn by chance and goes round, so that with n entries and no gaps the first one is met first with
probability (9 - n)/8. Above eight the order is chance.
Source: Go's runtime/map.go (mapiterinit) and internal/runtime/maps (putSlotSmall, deleteSmall, Iter): alike in this.
"""

from collections.abc import Iterator, Mapping, MutableMapping
from random import Random
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

_SLOTS = 8


class GoMap(MutableMapping[K, V]):
    """A map from which entries are taken out while others stay. Walked by `in_map_order`; itself it has no order."""

    def __init__(self) -> None:
        self._values: dict[K, V] = {}
        self._slots: list[K | None] | None = [None] * _SLOTS

    @property
    def slots(self) -> tuple[K | None, ...] | None:
        """The keys in their slots, None where one is free; None for a map that has had more entries than slots."""
        return None if self._slots is None else tuple(self._slots)

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def __setitem__(self, key: K, value: V) -> None:
        if key not in self._values and self._slots is not None:
            if len(self._values) < _SLOTS:
                self._slots[self._slots.index(None)] = key
            else:
                self._slots = None
        self._values[key] = value

    def __delitem__(self, key: K) -> None:
        del self._values[key]
        if self._slots is not None:
            self._slots[self._slots.index(key)] = None

    def __iter__(self) -> Iterator[K]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def in_map_order(rng: Random, mapping: Mapping[K, V]) -> tuple[tuple[K, V], ...]:
    """The entries in the order of one `for k, v := range mapping`.

    Those of a dict count as lying in order of insertion: right where nothing was taken out before something came in.
    """
    if len(mapping) <= 1:
        return tuple(mapping.items())
    keys = mapping.slots if isinstance(mapping, GoMap) else tuple(mapping)
    if keys is None or len(mapping) > _SLOTS:
        return tuple(rng.sample(list(mapping.items()), len(mapping)))
    start = rng.randrange(_SLOTS)
    walk = (*keys[start:], *keys[:start]) if start < len(keys) else keys
    return tuple((key, mapping[key]) for key in walk if key is not None)


def first_in_map(rng: Random, mapping: Mapping[K, V]) -> V | None:
    """The value that `for _, v := range mapping` meets first; None where the map is empty."""
    for _, value in in_map_order(rng, mapping):
        return value
    return None
