"""What one side of a case showed of one measure: times or counts, or words; and how values fall into ways."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

STRAY_SHARE = 0.05
"""A way with no more than this part of the runs is chance at work, and counts with its nearest neighbour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSample:
    """`values` of those runs that ended; `words` instead where the measure is one. `censored` had not ended.

    `silent`: why a run told nothing.
    """

    runs: int
    values: tuple[float, ...] = ()
    words: tuple[str, ...] = ()
    censored: int = 0
    silent: str | None = None

    @property
    def told(self) -> int:
        return len(self.values) + len(self.words) + self.censored


@dataclass(frozen=True, slots=True)
class Mode:
    """Runs of both sides that did the same: values between which there is no gap wider than the bound."""

    label: str
    reference: tuple[float, ...]
    other: tuple[float, ...]
    counts: tuple[int, int]
    """Of the reference's runs and of the other's."""


def split_into_modes(reference: SideSample, other: SideSample, bound: float) -> tuple[Mode, ...]:
    """Both samples in their ways, the largest first. Words and censored runs are ways of their own.

    Where the values of each side are one way, they are one for both, however far apart.
    """
    sides = (reference.values, other.values)
    pooled = [*reference.values, *other.values]
    alone = all(len(_by_gaps(side, bound)) <= 1 for side in sides)
    found = [
        Mode(f"{way[0]:.3g}", *_split(way, *sides))
        for way in ([sorted(pooled)] if alone else _by_gaps(pooled, bound))
        if way
    ]
    said = [Counter(sample.words) for sample in (reference, other)]
    found += [Mode(word, (), (), (said[0][word], said[1][word])) for word in sorted(set(said[0]) | set(said[1]))]
    if reference.censored or other.censored:
        found.append(Mode("did not end", (), (), (reference.censored, other.censored)))
    return tuple(sorted(found, key=lambda way: -sum(way.counts)))


def _split(
    way: Sequence[float], reference: Iterable[float], other: Iterable[float]
) -> tuple[tuple[float, ...], tuple[float, ...], tuple[int, int]]:
    low, high = way[0], way[-1]
    mine = tuple(value for value in reference if low <= value <= high)
    its = tuple(value for value in other if low <= value <= high)
    return mine, its, (len(mine), len(its))


def _by_gaps(values: Sequence[float], bound: float) -> list[list[float]]:
    """Sorted values, split where two neighbours lie farther apart than `bound`; strays join what is nearest."""
    ways: list[list[float]] = []
    for value in sorted(values):
        if ways and value - ways[-1][-1] <= bound:
            ways[-1].append(value)
        else:
            ways.append([value])
    while len(ways) > 1:
        place, least = min(enumerate(ways), key=lambda pair: len(pair[1]))
        if len(least) > max(1, STRAY_SHARE * len(values)):
            break
        below = least[0] - ways[place - 1][-1] if place > 0 else float("inf")
        above = ways[place + 1][0] - least[-1] if place + 1 < len(ways) else float("inf")
        first = place - 1 if below <= above else place
        ways[first : first + 2] = [ways[first] + ways[first + 1]]
    return ways
