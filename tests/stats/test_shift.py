"""Protects the interval of a shift: the true one is missed no more often than it says; exact for small samples."""

from itertools import combinations
from math import comb, inf
from random import Random

import pytest

from harness.stats import equal_shares
from harness.stats.shift import _ways, shift, shift_interval


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (4, 4), (5, 3)])
def test_the_orders_are_counted_as_by_listing_them(first: int, second: int) -> None:
    counted = [0] * (first * second + 1)
    for places in combinations(range(first + second), first):
        counted[sum(places) - first * (first - 1) // 2] += 1
    assert list(_ways(first, second)) == counted
    assert sum(counted) == comb(first + second, first)


@pytest.mark.parametrize("draw", [lambda r: r.gauss(0, 1), lambda r: r.expovariate(1), lambda r: round(r.random(), 1)])
@pytest.mark.parametrize("runs", [6, 70])
def test_the_true_shift_lies_within(draw: object, runs: int) -> None:
    rng, samples, chance = Random(20260302), 800 if runs < 10 else 100, 0.1
    missed = 0
    for _ in range(samples):
        one, two = ([draw(rng) for _ in range(runs)] for _ in range(2))  # type: ignore[operator]
        found = shift_interval(one, [value + 0.5 for value in two], chance=chance)
        missed += not found.low <= 0.5 + 1e-12 or not found.high >= 0.5 - 1e-12
    assert missed <= samples * chance + 4 * (samples * chance * (1 - chance)) ** 0.5


def test_ends_known_by_hand() -> None:
    """Three and three: only the most extreme of 20 orders is refused at 5 % a side."""
    found = shift_interval([1, 2, 3], [11, 12, 13], chance=0.1)
    assert (found.low, found.high) == (8, 12)
    assert shift([1, 2, 3], [11, 12, 13]) == 10
    few = shift_interval([1, 2], [11, 12], chance=0.1)
    assert (few.low, few.high) == (-inf, inf)


def test_an_empty_side_has_no_shift() -> None:
    with pytest.raises(ValueError, match="one is empty"):
        shift([], [1.0])


def test_fisher_s_tea() -> None:
    """The lady who told three of four cups: known from the book. All four: 1 in 35, both ways."""
    assert equal_shares(3, 4, 1, 4) == pytest.approx(0.4857, abs=1e-4)
    assert equal_shares(4, 4, 0, 4) == pytest.approx(2 / 70)
    assert equal_shares(5, 5, 5, 5) == 1.0
