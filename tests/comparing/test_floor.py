"""Protects the floor: what a shift must exceed to matter, and how a user writes it."""

import pytest

from harness.comparing.floor import DEFAULT_FLOOR, parse_floor
from harness.quantities import QuantityError


def test_a_floor_grows_with_the_time_and_with_what_the_lab_was_late() -> None:
    assert DEFAULT_FLOOR.of_time(2.0, 0.0) == pytest.approx(0.120)
    assert DEFAULT_FLOOR.of_time(2.0, 0.2) == pytest.approx(0.320)


@pytest.mark.parametrize(("median", "floor"), [(0, 0.5), (4, 0.5), (100, 5)])
def test_one_count_more_matters_where_there_are_few(median: float, floor: float) -> None:
    assert DEFAULT_FLOOR.of_count(median) == pytest.approx(floor)


@pytest.mark.parametrize("text", ["5% + 20ms", "0% + 10ms"])
def test_a_floor_is_shown_as_it_is_written(text: str) -> None:
    assert str(parse_floor(text)) == text


@pytest.mark.parametrize("text", ["5", "5% + 5%", "x", "", "-1s"])
def test_what_is_no_floor_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_floor(text)
