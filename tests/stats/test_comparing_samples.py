"""Protects what the gate reckons with: the chance of an order is exact with and without ties, a drawn interval covers
the true shift as often as it says, and rates of false discoveries keep their promise."""

import random
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact, mannwhitneyu, permutation_test

from harness.stats.bootstrap import bootstrapped_shift
from harness.stats.ranks import mann_whitney_p_value
from harness.stats.shift import shift
from harness.stats.significance import false_discovery_rates, fisher_p_value, min_runs_per_side

pytestmark = pytest.mark.ci

SMALL = st.lists(st.integers(0, 4).map(float), min_size=2, max_size=5)


@given(SMALL, SMALL)
@settings(max_examples=60)
def test_over_ties_the_chance_is_that_of_all_orders(below: list[float], above: list[float]) -> None:
    def statistic(first: object, second: object) -> float:
        return float(mannwhitneyu(first, second).statistic)

    if len({*below, *above}) == 1:
        return
    exact = permutation_test((above, below), statistic, alternative="greater", n_resamples=1_000_000).pvalue
    assert mann_whitney_p_value(below, above) == pytest.approx(exact)


def test_without_ties_it_is_scipys_and_of_many_values_the_approximation() -> None:
    draw = random.Random(1)
    below, above = [draw.random() for _ in range(12)], [draw.random() + 0.3 for _ in range(15)]
    assert mann_whitney_p_value(below, above) == pytest.approx(
        mannwhitneyu(above, below, alternative="greater", method="exact").pvalue
    )
    apart = mann_whitney_p_value([1.0, 1.0, 2.0] * 7, [5.0, 5.0, 6.0] * 7)
    assert apart == pytest.approx(1 / comb(42, 21))
    many = [float(round(draw.random() * 50)) for _ in range(61)]
    assert mann_whitney_p_value(many, [value + 1 for value in many]) == pytest.approx(
        mannwhitneyu([value + 1 for value in many], many, alternative="greater", method="asymptotic").pvalue
    )


def test_a_few_against_many_are_exact_too() -> None:
    """A baseline of a hundred runs and some new ones: the approximation is a thousand times too shy there."""
    many, few = [float(number) for number in range(100)], [200.0 + number for number in range(5)]
    assert mann_whitney_p_value(many, few) == pytest.approx(1 / comb(105, 5))
    assert mann_whitney_p_value([-value for value in few], [-value for value in many]) == pytest.approx(
        1 / comb(105, 5)
    )
    tied = [float(number // 3) for number in range(100)]
    assert mann_whitney_p_value(tied, few) == pytest.approx(1 / comb(105, 5))


@pytest.mark.parametrize("swapped", [False, True])
def test_over_ties_the_smaller_sample_may_be_either(swapped: bool) -> None:
    """All orders of 2 among 70 values, listed."""
    draw = random.Random(2)
    pool = [float(round(draw.random() * 12)) for _ in range(70)]
    few, many = ([10.0, 11.0], pool) if not swapped else ([2.0, 3.0], pool)
    both = [*few, *many]
    ranks = [sum(other < value for other in both) + sum(other == value for other in both) / 2 for value in both]
    picks = [one + two for place, one in enumerate(ranks) for two in ranks[:place]]
    seen = ranks[0] + ranks[1]
    reached = sum(total <= seen if swapped else total >= seen for total in picks)
    chance = mann_whitney_p_value(few, many) if swapped else mann_whitney_p_value(many, few)
    assert chance == pytest.approx(reached / comb(72, 2))
    assert 0.001 < chance < 0.5


@given(st.integers(0, 20), st.integers(0, 20))
@settings(max_examples=40)
def test_shares_are_held_as_fisher_does(before: int, now: int) -> None:
    table = [[now, 20 - now], [before, 20 - before]]
    assert fisher_p_value(before, 20, now, 20) == pytest.approx(fisher_exact(table, alternative="greater").pvalue)


def test_a_drawn_interval_covers_the_true_shift_as_often_as_it_says() -> None:
    draw = random.Random(7)
    covered = 0
    for _ in range(300):
        below = [draw.gauss(1.0, 0.1) for _ in range(20)]
        above = [draw.gauss(1.5, 0.1) for _ in range(20)]
        found = bootstrapped_shift(below, above, chance=0.1)
        covered += found.low <= 0.5 <= found.high
    # 270 are promised; 245 are five standard deviations away.
    assert 245 <= covered <= 295


def test_a_drawn_interval_moves_with_the_values_and_knows_no_order() -> None:
    draw = random.Random(3)
    below, above = [draw.random() for _ in range(9)], [draw.random() for _ in range(11)]
    found = bootstrapped_shift(below, above, chance=0.1)
    assert found.low <= shift(below, above) <= found.high
    assert bootstrapped_shift(below[::-1], sorted(above), chance=0.1) == found
    moved = bootstrapped_shift(below, [value + 5 for value in above], chance=0.1)
    assert (moved.low, moved.high) == (pytest.approx(found.low + 5), pytest.approx(found.high + 5))
    large = bootstrapped_shift([draw.random() for _ in range(150)], [draw.random() + 1 for _ in range(150)], chance=0.1)
    assert 0.8 < large.low < large.high < 1.2


def test_rates_of_false_discoveries_and_the_runs_that_tell() -> None:
    assert false_discovery_rates([]) == ()
    assert false_discovery_rates([0.01, 0.02, 0.9]) == pytest.approx((0.03, 0.03, 0.9))
    assert [min_runs_per_side(chance) for chance in (0.9, 1 / 251, 1 / 252, 1 / 253)] == [1, 5, 5, 6]
    runs = min_runs_per_side(0.0001)
    assert comb(2 * runs, runs) * 0.0001 >= 1 > comb(2 * runs - 2, runs - 1) * 0.0001


def test_no_values_are_no_sample() -> None:
    for wrong in (
        lambda: mann_whitney_p_value([], [1.0]),
        lambda: mann_whitney_p_value([1.0], []),
        lambda: bootstrapped_shift([1.0], [], chance=0.1),
        lambda: bootstrapped_shift([], [1.0], chance=0.1),
    ):
        with pytest.raises(ValueError, match="empty"):
            wrong()
    for none in ((0, 0, 1, 1), (1, 1, 0, 0)):
        with pytest.raises(ValueError, match="no runs"):
            fisher_p_value(*none)
    assert fisher_p_value(0, 1, 1, 1) == pytest.approx(0.5)
