"""Protects the nearest rank: the noise limit and the lab's own error are percentiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.stats import p99, percentile


def test_nearest_rank_by_hand() -> None:
    values = [15.0, 20.0, 35.0, 40.0, 50.0]
    assert [percentile(values, share) for share in (0.05, 0.3, 0.4, 0.5, 1.0)] == [15.0, 20.0, 20.0, 35.0, 50.0]


def test_p99_leaves_out_exactly_one_in_a_hundred() -> None:
    assert p99(range(1, 101)) == 99
    assert p99(range(1, 201)) == 198
    assert p99(range(1, 51)) == 50


def test_binary_fractions_do_not_move_the_rank() -> None:
    for hundredths in range(1, 101):
        assert percentile(range(1, 101), hundredths / 100) == hundredths


@given(st.lists(st.floats(allow_nan=False), min_size=1), st.floats(min_value=0.01, max_value=1))
def test_is_a_value_that_was_seen_with_its_share_below(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(v <= found for v in values) >= share * len(values) - 1e-6


@pytest.mark.parametrize("share", [0, -1, 1.01])
def test_refuses_what_is_no_share(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        percentile([1.0], share)


def test_no_values_is_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        p99([])
