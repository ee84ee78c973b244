"""Protects the interval of a shift: the true one is missed no more often than it says; exact for small samples."""

from itertools import combinations
from math import comb, inf
from random import Random

import pytest
from scipy.stats import mannwhitneyu

from harness.stats import equal_shares_p_value
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


@pytest.mark.parametrize(("first", "second"), [(20, 20), (60, 60), (61, 61), (61, 90), (6, 90), (90, 6)])
@pytest.mark.parametrize("chance", [0.1, 0.001])
def test_an_end_is_where_the_exact_test_begins_to_refuse(first: int, second: int, chance: float) -> None:
    """Beyond either end scipy's test refuses every shift; the approximation of large samples errs to the wide side,
    and by at most one in 500 of the differences."""
    rng = Random(first * second)
    one, two = ([rng.random() for _ in range(runs)] for runs in (first, second))
    found = shift_interval(one, two, chance=chance)
    differences = sorted(b - a for a in one for b in two)
    place = differences.index(found.low)
    assert differences[-1 - place] == found.high, "as many are refused at both ends"
    few = 0 if min(first, second) <= 60 else first * second // 500

    def chance_of(moved: float) -> float:
        return float(mannwhitneyu([value - moved for value in two], one, alternative="greater", method="exact").pvalue)

    assert chance_of((differences[place - 1] + differences[place]) / 2) <= chance / 2
    inside = place + few
    assert chance_of((differences[inside] + differences[inside + 1]) / 2) > chance / 2


def test_an_empty_side_has_no_shift() -> None:
    for sides in (([], [1.0]), ([1.0], [])):
        with pytest.raises(ValueError, match="one is empty"):
            shift(*sides)


def test_fisher_s_tea() -> None:
    """The lady who told three of four cups: known from the book. All four: 1 in 35, both ways."""
    assert equal_shares_p_value(3, 4, 1, 4) == pytest.approx(0.4857, abs=1e-4)
    assert equal_shares_p_value(4, 4, 0, 4) == pytest.approx(2 / 70)
    assert equal_shares_p_value(5, 5, 5, 5) == 1.0
