"""The order in which Go walks a map. Programs that take "any" broker from a map get what this says.

Up to eight entries lie in one group of eight slots; a walk starts at a slot drawn by chance and goes round, so that
with n entries the first one is met first with probability (9 - n)/8. Above eight the order is chance.
Source: Go's runtime/map.go (mapiterinit) and internal/runtime/maps/table.go (Iter): alike in this.
"""

from collections.abc import Mapping
from random import Random
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

_SLOTS = 8


def in_map_order(rng: Random, mapping: Mapping[K, V]) -> tuple[tuple[K, V], ...]:
    """The entries in the order of one `for k, v := range mapping`. Entries count as lying in order of insertion."""
    entries = tuple(mapping.items())
    if len(entries) <= 1:
        return entries
    if len(entries) > _SLOTS:
        return tuple(rng.sample(entries, len(entries)))
    start = rng.randrange(_SLOTS)
    if start >= len(entries):
        start = 0
    return entries[start:] + entries[:start]


def first_in_map(rng: Random, mapping: Mapping[K, V]) -> V | None:
    """The value that `for _, v := range mapping` meets first; None where the map is empty."""
    for _, value in in_map_order(rng, mapping):
        return value
    return None
