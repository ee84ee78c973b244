"""Protects what statistical verdicts rest on: an interval misses the truth no more often than it says, for any
distribution, and what it takes to be narrow enough is told rightly.

Chances here are large (5 %), so that a few thousand samples show whether they are kept.
"""

from collections.abc import Callable, Sequence
from math import comb, inf
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import (
    Interval,
    mean_interval,
    quantile_interval,
    runs_for_quantile,
    runs_for_share,
    share_difference_interval,
    share_interval,
)
from harness.stats.binomial import at_least, at_most

pytestmark = pytest.mark.ci

CHANCE = 0.05
Draw = Callable[[Random], float]


def missed(truth: float, draw: Draw, interval: Callable[[Sequence[float]], object], *, runs: int, samples: int) -> int:
    """How many of so many samples give an interval without the truth."""
    rng = Random(20260302)
    found = (interval([draw(rng) for _ in range(runs)]) for _ in range(samples))
    return sum(not one.low <= truth <= one.high for one in found)  # type: ignore[attr-defined]


def allowed(samples: int, chance: float = CHANCE) -> int:
    """So many misses a correct interval exceeds once in a million tests."""
    return next(count for count in range(samples) if at_least(count + 1, samples, chance) < 1e-6)


@given(st.integers(1, 40), st.fractions(0, 1))
def test_tails_are_exact(runs: int, share: object) -> None:
    p = float(share)  # type: ignore[arg-type]
    total = 0.0
    for count in range(runs + 1):
        total += comb(runs, count) * p**count * (1 - p) ** (runs - count)
        assert at_most(count, runs, p) == pytest.approx(total, rel=1e-9, abs=1e-12)
        assert at_least(count + 1, runs, p) == pytest.approx(1 - total, rel=1e-6, abs=1e-12)


def test_small_tails_keep_their_digits() -> None:
    assert at_least(400, 400, 0.9) == pytest.approx(0.9**400, rel=1e-9)
    assert at_most(0, 400, 0.1) == pytest.approx(0.9**400, rel=1e-9)


@pytest.mark.parametrize("share", [0.02, 1 / 6, 0.5, 0.9])
@pytest.mark.parametrize("runs", [10, 60])
def test_a_share_lies_in_its_interval(share: float, runs: int) -> None:
    chances = [comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(runs + 1)]
    found = [share_interval(k, runs, chance=CHANCE) for k in range(runs + 1)]
    outside = sum(c for c, interval in zip(chances, found, strict=True) if not interval.low <= share <= interval.high)
    assert outside <= CHANCE


def test_share_intervals_known_from_tables() -> None:
    """Clopper and Pearson 1934: 8 of 10, and the rule of three for none of 30."""
    found = share_interval(8, 10, chance=0.05)
    assert (round(found.low, 4), round(found.high, 4)) == (0.4439, 0.9748)
    assert share_interval(0, 30, chance=0.1).high == pytest.approx(3 / 30, rel=0.06)
    assert share_interval(5, 5, chance=0.05).high == 1.0
    with pytest.raises(ValueError, match="is no share"):
        share_interval(3, 2, chance=0.05)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((48, 80, 56, 70), 0.0524, 0.3339),
        ((3, 10, 9, 10), 0.1705, 0.8090),
        ((0, 29, 5, 56), -0.0381, 0.1926),
        ((0, 20, 10, 10), 0.6791, 1.0),
    ],
)
def test_difference_intervals_known_from_the_paper(counts: tuple[int, int, int, int], low: float, high: float) -> None:
    """Newcombe 1998, table II."""
    found = share_difference_interval(*counts, chance=0.05)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@pytest.mark.parametrize(("share", "within"), [(1 / 6, 0.08), (1 / 3, 0.1), (0.5, 0.25), (1.0, 0.05), (0.0, 0.1)])
def test_so_many_runs_are_enough_and_not_many_fewer(share: float, within: float) -> None:
    low, high = share - within, share + within
    runs = runs_for_share(share, low, high, chance=CHANCE)
    assert runs is not None
    seen_outside = sum(
        comb(runs, k) * share**k * (1 - share) ** (runs - k)
        for k in range(runs + 1)
        if not low - 1e-9 <= k / runs <= high + 1e-9
    )
    assert seen_outside <= CHANCE
    expected = share_interval(round(runs * share), runs, chance=CHANCE)
    assert expected.max_distance(share) <= within + 1 / runs
    fewer = max(1, runs * 2 // 3)
    assert share_interval(round(fewer * share), fewer, chance=CHANCE).max_distance(share) > within * 0.95


def test_a_tolerance_of_nothing_is_never_met() -> None:
    assert runs_for_share(0.5, 0.5, 0.5, chance=CHANCE) is None
    assert runs_for_share(0.5, 0.4999, 0.5001, chance=CHANCE) is None


RARE: Draw = lambda rng: float(rng.random() < 0.1)  # noqa: E731
DRAWS: dict[str, tuple[Draw, float]] = {
    "number of dead seeds": (lambda rng: rng.randrange(3) / 2, 0.5),
    "rarely one": (RARE, 0.1),
    "rarely none": (lambda rng: 1 - RARE(rng), 0.9),
    "even": (lambda rng: rng.random(), 0.5),
    "mostly small": (lambda rng: rng.random() ** 8, 1 / 9),
    "never differs": (lambda _: 0.25, 0.25),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("runs", [15, 60])
def test_a_mean_lies_in_its_interval_whatever_the_distribution(name: str, runs: int) -> None:
    draw, truth = DRAWS[name]
    outside = missed(truth, draw, lambda values: mean_interval(values, 0, 1, chance=CHANCE), runs=runs, samples=600)
    assert outside <= allowed(600)


def test_a_mean_of_values_that_hardly_spread_is_known_better() -> None:
    rng = Random(7)
    wide = mean_interval([rng.random() for _ in range(200)], 0, 1, chance=CHANCE)
    narrow = mean_interval([0.45 + rng.random() / 10 for _ in range(200)], 0, 1, chance=CHANCE)
    assert narrow.high - narrow.low < (wide.high - wide.low) / 2
    assert wide.high - wide.low < 4 * 2.8 * 0.289 / 200**0.5


def test_bounds_scale_the_interval_and_values_outside_are_refused() -> None:
    rng = Random(7)
    unit = [rng.random() for _ in range(50)]
    plain = mean_interval(unit, 0, 1, chance=CHANCE)
    scaled = mean_interval([3 + 2 * value for value in unit], 3, 5, chance=CHANCE)
    assert (scaled.low, scaled.high) == (pytest.approx(3 + 2 * plain.low), pytest.approx(3 + 2 * plain.high))
    with pytest.raises(ValueError, match="outside of 0 to 1"):
        mean_interval([0.5, 1.5], 0, 1, chance=CHANCE)
    with pytest.raises(ValueError, match="no value lies between"):
        mean_interval([0.5], 1, 1, chance=CHANCE)


@pytest.mark.parametrize("q", [0.5, 0.9])
def test_a_quantile_lies_in_its_interval(q: float) -> None:
    outside = missed(
        q**0.5, lambda rng: rng.random() ** 0.5, lambda v: quantile_interval(v, v, q, chance=CHANCE),
        runs=80, samples=2000,
    )  # fmt: skip
    assert 0.1 * CHANCE * 2000 < outside <= allowed(2000)


def test_too_few_runs_leave_a_quantile_open() -> None:
    needed = runs_for_quantile(0.9, chance=CHANCE)
    values = [float(n) for n in range(needed)]
    assert quantile_interval(values, values, 0.9, chance=CHANCE).high == needed - 1
    assert quantile_interval(values[:-1], values[:-1], 0.9, chance=CHANCE).high == inf


def test_what_had_not_ended_bounds_a_quantile_from_below_alone() -> None:
    lows = [float(n) for n in range(40)]
    highs = [*lows[:30], *[inf] * 10]
    found = quantile_interval(lows, highs, 0.5, chance=CHANCE)
    assert found == quantile_interval(lows, lows, 0.5, chance=CHANCE)
    assert quantile_interval(lows, highs, 0.75, chance=CHANCE).high == inf
    assert quantile_interval(lows, highs, 0.75, chance=CHANCE).low > 20


@pytest.mark.parametrize(
    ("runs", "q", "low", "high"),
    [(5, 0.5, -inf, inf), (8, 0.5, 1, 8), (30, 0.5, 10, 21), (80, 0.5, 31, 50), (80, 0.9, 66, 78), (5, 0.9, 3, inf)],
)
def test_ranks_of_a_quantile_are_those_of_the_tables(runs: int, q: float, low: float, high: float) -> None:
    """At 95 %, as scipy's binomial tails give them: the 10th and the 21st of 30 hold the median."""
    found = quantile_interval(range(1, runs + 1), range(1, runs + 1), q, chance=CHANCE)
    assert (found.low, found.high) == (low, high)


def test_an_interval_lies_beyond_a_bound_only_as_a_whole() -> None:
    found = Interval(1.0, 2.0)
    assert found.lies_outside(None, 0.5)
    assert found.lies_outside(2.5, None)
    assert found.lies_outside(-3.0, 0.5)
    assert found.lies_outside(2.5, 9.0)
    for low, high in ((None, None), (None, 1.0), (None, 1.5), (2.0, None), (1.5, None), (0.0, 3.0), (1.5, 1.7)):
        assert not found.lies_outside(low, high)
