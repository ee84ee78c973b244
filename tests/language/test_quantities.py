"""Protects that quantities mean what they say: no unit is guessed, none is lost, and what is written reads back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.quantities import (
    LONGEST_S,
    QUANTITIES,
    Quantity,
    QuantityError,
    Tolerance,
    duration_s,
    duration_text,
    percent,
    quote_value,
    rate_per_s,
    seconds_text,
    signed_duration_s,
    size_bytes,
    tolerance,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1s", 1), ("250ms", 0.25), ("2m", 120), ("1m30s", 90), ("1h", 3600), ("1.5s", 1.5), ("10us", 1e-5), ("0", 0)],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration_s(text) == seconds


def test_a_setting_may_be_below_zero() -> None:
    """Net.KeepAlive -1s is Go's way to switch keep-alives off; the client's own checks refuse what else is below."""
    assert signed_duration_s("-1m30s") == -90.0
    assert signed_duration_s("250ms") == 0.25
    for text in ("-", "--1s", "1s-1ms", "- 1s"):
        with pytest.raises(QuantityError):
            signed_duration_s(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("5", "write its unit: 5s or 5ms"),
        ("1:30", "write 1m30s"),
        ("1:30:05", "write 1h30m5s"),
        ("1 s", "write 1s"),
        ("on", "250ms, 1s or 1m30s"),
        ("-1s", "250ms"),
        ("1s1m", "1m30s"),
        ("1s1s", "1m30s"),
        ("", "250ms"),
        ("1e3s", "250ms"),
        ("999999999h", ""),
    ],
)
def test_what_is_no_duration_says_what_to_write(text: str, hint: str) -> None:
    with pytest.raises(QuantityError) as caught:
        duration_s(text)
    assert hint in caught.value.hint


@given(st.integers(0, LONGEST_S * 10**9))
def test_a_duration_written_back_is_the_same_to_the_nanosecond(nanoseconds: int) -> None:
    assert round(duration_s(duration_text(nanoseconds / 1e9)) * 1e9) == round(nanoseconds / 1e9 * 1e9)


def test_sizes_rates_and_percentages() -> None:
    assert (size_bytes("1KiB"), size_bytes("2MB"), size_bytes("1.5KiB")) == (1024, 2_000_000, 1536)
    assert (rate_per_s("200/s"), rate_per_s("30/m")) == (200.0, 0.5)
    assert percent("1%") == 0.01
    for read, wrong in ((size_bytes, "1K"), (size_bytes, "0.5B"), (rate_per_s, "200"), (percent, "1")):
        with pytest.raises(QuantityError):
            read(wrong)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("0.5", "write 50%"), ("0.07", "write 7%"), ("50", "write 50%"), ("1", "write 1% or 100%"), ("half", "as 30%")],
)
def test_what_is_no_percentage_says_what_to_write(text: str, hint: str) -> None:
    with pytest.raises(QuantityError) as caught:
        percent(text)
    assert hint in caught.value.hint


@pytest.mark.parametrize("written", QUANTITIES)
def test_a_quantity_is_written_as_it_is_read(written: Quantity) -> None:
    for value in (0, 1, 7, 1024):
        assert written.reads(written.writes(value)) == value


def test_a_value_is_quoted_in_yaml_s_words() -> None:
    assert [quote_value(value) for value in (None, True, False, 1, "None")] == [
        "`null`", "`true`", "`false`", "`1`", "`None`",
    ]  # fmt: skip


def test_a_tolerance_adds_a_share_and_a_time() -> None:
    assert tolerance("1% + 50ms") == tolerance("50ms+1%") == Tolerance(0.01, 0.05)
    assert tolerance("2%") == Tolerance(0.02, 0.0)
    assert tolerance("0.08") == Tolerance(0.0, 0.08, "count")
    assert tolerance("1% + 2") == Tolerance(0.01, 2.0, "count")
    for wrong in ("", "1% + 1%", "1% +", "5ms + 5ms", "0.1 + 5ms", "-1"):
        with pytest.raises(QuantityError):
            tolerance(wrong)


def test_seconds_are_shown_to_the_millisecond() -> None:
    assert seconds_text(8.8561) == "8.856 s"
