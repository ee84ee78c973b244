"""Protects the letters of a strip: settings are told apart by them, whatever unit their names end in."""

import pytest

from cli.show.strip import BACKING_OFF, letters_of
from harness.judging import BreakdownSegment


def segments(*settings: str | None) -> tuple[BreakdownSegment, ...]:
    return tuple(BreakdownSegment(setting=setting, began_s=0.0, ended_s=1.0) for setting in settings)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (("Net.ReadTimeout", "Net.DialTimeout", "Producer.Retry.Backoff", None), f"rd{BACKING_OFF}_"),
        (("Producer.Retry.Backoff", "Metadata.Retry.Backoff"), BACKING_OFF * 2),
        (("message.timeout.ms", "socket.timeout.ms"), "ms"),
        (("request.timeout.ms", "retry.backoff.ms"), f"t{BACKING_OFF}"),
        (("Net.ReadTimeout", "Producer.Rebalance"), "re"),
    ],
)
def test_each_setting_has_the_letter_of_its_subject(settings: tuple[str | None, ...], expected: str) -> None:
    assert "".join(letters_of(segments(*settings)).values()) == expected
