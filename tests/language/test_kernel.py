"""Protects when formulas say that the kernel sends again: the moments measured on Linux, and none where two are
possible."""

from collections.abc import Callable

import pytest

from harness.formulas.kernel_timers import Timer, next_persist_probe_s, next_retransmission_s, next_syn_s


@pytest.mark.parametrize(
    ("function", "dark_s", "at_s"),
    [
        (next_retransmission_s, 0.3, 0.408),
        (next_retransmission_s, 1.2, 1.632),
        (next_persist_probe_s, 0.1, 0.204),
        (next_persist_probe_s, 0.4, 0.612),
        (next_persist_probe_s, 1.0, 1.428),
        (next_persist_probe_s, 2.0, 3.060),
        (next_syn_s, 2.5, 3.0),
    ],
)
def test_the_next_moment_after_healing(function: Callable[[float], Timer], dark_s: float, at_s: float) -> None:
    """Measured with packets refused on the output hook, Linux 6.18: 0.207, 0.618, 1.451, 3.115 s."""
    found = function(dark_s)
    assert found.at_s == pytest.approx(at_s)
    assert 0 < found.late_s < 0.1 * at_s + 0.05


@pytest.mark.parametrize("dark_s", [0.204, 0.612, 1.43])
def test_a_healing_at_such_a_moment_is_refused(dark_s: float) -> None:
    with pytest.raises(ValueError, match="too near"):
        next_persist_probe_s(dark_s)
