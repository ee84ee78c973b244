"""How the runs of both sides fall into modes: groups of runs that did the same, where chance chooses among them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.agreement.samples import SideSample

STRAY_SHARE = 0.05
"""A mode with at most this part of the runs is noise, and is joined to its nearest neighbour."""


@dataclass(frozen=True, slots=True)
class Mode:
    """Runs of both sides that did the same: values without a gap wider than the bound, one word, or no end.

    `counts`: of the reference's runs and of the other's.
    """

    label: str
    counts: tuple[int, int]
    reference: tuple[float, ...] = ()
    other: tuple[float, ...] = ()


def split_into_modes(reference: SideSample, other: SideSample, bound: float) -> tuple[Mode, ...]:
    """Both samples in their modes, the largest first. Each word is a mode, and so are the censored runs.

    If the values of each side form a single mode, both sides share it, however far apart they are.
    """
    sides = (reference.values, other.values)
    pooled = sorted((*reference.values, *other.values))
    alone = all(len(_by_gaps(side, bound)) <= 1 for side in sides)
    modes = [_mode(group, *sides) for group in ([pooled] if alone else _by_gaps(pooled, bound)) if group]
    for word in sorted({*reference.words, *other.words}):
        modes.append(Mode(word, (reference.words.count(word), other.words.count(word))))
    if reference.censored or other.censored:
        modes.append(Mode("did not end", (len(reference.censored), len(other.censored))))
    return tuple(sorted(modes, key=lambda mode: -sum(mode.counts)))


def _mode(group: Sequence[float], reference: Iterable[float], other: Iterable[float]) -> Mode:
    ours, theirs = (tuple(v for v in side if group[0] <= v <= group[-1]) for side in (reference, other))
    return Mode(f"{group[0]:.3g}", (len(ours), len(theirs)), ours, theirs)


def _by_gaps(values: Sequence[float], bound: float) -> list[list[float]]:
    """Sorted values, split where two neighbours lie farther apart than `bound`; strays join the nearest group."""
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value - groups[-1][-1] <= bound:
            groups[-1].append(value)
        else:
            groups.append([value])
    while len(groups) > 1:
        index, least = min(enumerate(groups), key=lambda pair: len(pair[1]))
        if len(least) > max(1, STRAY_SHARE * len(values)):
            break
        below = least[0] - groups[index - 1][-1] if index > 0 else float("inf")
        above = groups[index + 1][0] - least[-1] if index + 1 < len(groups) else float("inf")
        first = index - 1 if below <= above else index
        groups[first : first + 2] = [groups[first] + groups[first + 1]]
    return groups
