"""Protects censored medians: a time that did not end must never count as if it had."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import Median, censored_median, median

times = st.lists(st.floats(min_value=0, max_value=100), max_size=9)


def test_median_by_hand() -> None:
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 2, 3]) == 2.5


def test_exact_while_the_middle_ended() -> None:
    assert censored_median([1, 2], [60]) == Median(value=2, censored=False)
    assert censored_median([1, 2, 3], [60, 60]) == Median(value=3, censored=False)


def test_lower_bound_once_the_middle_did_not_end() -> None:
    assert censored_median([1], [60, 60]) == Median(value=60, censored=True)
    assert censored_median([1, 2], [60, 60]) == Median(value=31, censored=True)
    assert censored_median([], [60]) == Median(value=60, censored=True)


def test_an_early_bound_could_lie_anywhere_above() -> None:
    assert censored_median([5, 6], [1]) == Median(value=5, censored=True)


@given(times, times, st.data())
def test_never_above_what_the_true_times_would_give(
    values: list[float], bounds: list[float], data: st.DataObject
) -> None:
    if not values and not bounds:
        return
    longer = [bound + data.draw(st.floats(min_value=0, max_value=50)) for bound in bounds]
    truth = median(values + longer)
    found = censored_median(values, bounds)
    assert found.value <= truth + 1e-9
    if not found.censored:
        assert found.value == pytest.approx(truth)


def test_nothing_has_no_median() -> None:
    with pytest.raises(ValueError, match="no values"):
        median([])
    with pytest.raises(ValueError, match="neither"):
        censored_median([], [])
