"""Protects what agreement means: shown to lie within a bound, never merely not shown to differ; and alarms that are as
rare as they say.
"""

from collections.abc import Sequence
from itertools import product
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agreement.equivalence import MATRIX_CHANCE, SHARE_BOUND, compare
from harness.agreement.modes import split_into_modes
from harness.agreement.samples import SideSample
from harness.records.agreement import SideComparison

pytestmark = pytest.mark.ci

BOUND = 0.1
LEVEL = MATRIX_CHANCE / 400
times = st.lists(st.floats(0.0, 0.5), min_size=1, max_size=12)


def times_of(values: Sequence[float], *, censored: int = 0) -> SideSample:
    return SideSample(unit="s", runs=len(values) + censored, values=tuple(sorted(values)), censored=(60.0,) * censored)


def words_of(*words: str) -> SideSample:
    return SideSample(unit="outcome", runs=len(words), words=tuple(sorted(words)))


def held(reference: SideSample, other: SideSample, level: float = LEVEL) -> SideComparison:
    return compare(reference, other, sides=("real", "profile"), bound=BOUND, level=level)


def drawn(rng: Random, runs: int, middle: float = 8.85, spread: float = 0.01) -> SideSample:
    return times_of([rng.gauss(middle, spread) for _ in range(runs)])


def test_twelve_runs_a_side_show_agreement_and_three_do_not() -> None:
    rng = Random(1)
    assert held(drawn(rng, 12), drawn(rng, 12)).outcome == "agrees"
    few = held(drawn(rng, 3), drawn(rng, 3))
    assert few.outcome == "unsure"
    assert few.needed is not None
    assert 8 <= few.needed <= 15


def test_a_shift_beyond_the_bound_is_an_alarm_that_says_where() -> None:
    rng = Random(2)
    found = held(drawn(rng, 14), drawn(rng, 14, middle=9.1))
    assert found.outcome == "differs"
    assert found.difference == pytest.approx(0.25, abs=0.02)
    assert found.interval_low is not None
    assert found.interval_low > BOUND


@pytest.mark.slow
def test_a_shift_of_the_bound_itself_is_not_called_agreement_more_often_than_said() -> None:
    """At the very edge either answer is wrong with the chance it says: 5 % for agreement."""
    rng = Random(3)
    agreed = sum(held(drawn(rng, 12), drawn(rng, 12, middle=8.85 + BOUND)).outcome == "agrees" for _ in range(300))
    assert agreed <= 300 * 0.05 + 4 * (300 * 0.05 * 0.95) ** 0.5


@pytest.mark.slow
def test_alarms_at_the_edge_are_as_rare_as_their_level() -> None:
    """At a level at which a thousand samples show it."""
    rng, level = Random(4), 0.1
    alarms = sum(
        held(drawn(rng, 12), drawn(rng, 12, middle=8.85 + BOUND), level).outcome == "differs" for _ in range(400)
    )
    assert alarms <= 400 * level + 4 * (400 * level * (1 - level)) ** 0.5


def test_a_matrix_of_cells_that_agree_raises_no_alarm() -> None:
    rng = Random(5)
    assert not [
        one
        for _ in range(2000)
        if (one := held(drawn(rng, 12, spread=0.05), drawn(rng, 12, spread=0.05))).outcome == "differs"
    ]


def test_an_order_drawn_by_chance_is_compared_way_by_way() -> None:
    """Half of the runs meet a dead seed first: how often is compared, and how long it takes then."""
    rng = Random(6)

    def ways(runs: int, share: float, late_s: float = 1.0) -> SideSample:
        late = [rng.random() < share for _ in range(runs)]
        return times_of([rng.gauss(0.01 + late_s * one, 0.005) for one in late])

    alike = held(ways(80, 0.5), ways(80, 0.5))
    assert (alike.outcome, alike.ways, alike.share_bound) == ("agrees", 2, SHARE_BOUND)
    few = held(times_of([0.0, 1.0] * 6), times_of([0.001, 1.001] * 6))
    assert few.outcome == "unsure"
    assert few.needed is not None
    assert few.needed >= 24
    assert held(ways(80, 0.05), ways(80, 0.9)).outcome == "differs"
    assert held(ways(80, 0.5), ways(80, 0.5, late_s=1.5)).outcome == "differs"


@pytest.mark.parametrize("runs", [(9, 9), (12, 13), (20, 20)])
def test_shares_at_the_edge_agree_as_rarely_as_it_says(runs: tuple[int, int]) -> None:
    """Exact: every pair of counts, and how likely it is where the shares differ by just the bound."""
    words = [[words_of(*["ok"] * ok, *["failed"] * (of - ok)) for ok in range(of + 1)] for of in runs]
    agree = {
        (one, two)
        for one, two in product(range(runs[0] + 1), range(runs[1] + 1))
        if held(words[0][one], words[1][two]).outcome == "agrees"
    }

    def chance(ok: int, of: int, share: float) -> float:
        return comb(of, ok) * share**ok * (1 - share) ** (of - ok)

    edges = [(share / 100, share / 100 + SHARE_BOUND) for share in range(71)]
    assert agree
    for one, two in edges:
        assert sum(chance(a, runs[0], one) * chance(b, runs[1], two) for a, b in agree) <= 0.05


def test_one_stray_is_no_way_of_its_own() -> None:
    rng = Random(7)
    strayed = times_of([*drawn(rng, 23).values, 9.6])
    found = held(drawn(rng, 24), strayed)
    assert (found.outcome, found.ways) == ("agrees", 1)


def test_words_and_runs_that_never_ended_are_compared_by_their_shares() -> None:
    timeout = words_of(*["net.OpError"] * 14)
    assert held(timeout, timeout).outcome == "agrees"
    assert held(timeout, words_of(*["ErrOutOfBrokers"] * 14)).outcome == "differs"
    assert held(words_of(*["a"] * 4), words_of(*["b"] * 4)).outcome == "unsure"
    assert held(times_of([], censored=12), times_of([], censored=12)).outcome == "agrees"
    assert held(times_of([1.0] * 24), times_of([], censored=24)).outcome == "differs"


def test_a_side_that_told_nothing_is_never_agreement() -> None:
    nothing = SideSample(unit="s", runs=5, silent="no packet was dropped")
    found = held(nothing, times_of([1.0] * 12))
    assert found.outcome == "unsure"
    assert found.reason == "real: no packet was dropped"


@given(times, times)
def test_groups_hold_every_run_once(one: list[float], two: list[float]) -> None:
    groups = split_into_modes(times_of(one), times_of(two), BOUND)
    assert sum(group.counts[0] for group in groups) == len(one)
    assert sum(group.counts[1] for group in groups) == len(two)
    assert sorted(v for group in groups for v in (*group.reference, *group.other)) == sorted([*one, *two])


@given(times, times)
def test_the_other_way_round_is_the_same(one: list[float], two: list[float]) -> None:
    there, back = held(times_of(one), times_of(two)), held(times_of(two), times_of(one))
    assert there.outcome == back.outcome
    if there.difference is not None and back.difference is not None and there.ways == 1:
        assert there.difference == pytest.approx(-back.difference)
