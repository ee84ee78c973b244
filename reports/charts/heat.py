"""Shades for times: one hue on a logarithmic scale that never changes, so that two reports can be laid side by side."""

from bisect import bisect_left

STEPS_S = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Upper ends of the shades in seconds; what is longer has the darkest one."""


def shade_of(seconds: float) -> int:
    """0 for the lightest, `len(STEPS_S)` for the darkest. An end belongs to its own shade."""
    return bisect_left(STEPS_S, seconds)


def legend() -> tuple[tuple[int, str], ...]:
    """Shade and words, lightest first."""
    bounded = [(shade, f"\u2264 {end:g} s") for shade, end in enumerate(STEPS_S)]
    return (*bounded, (len(STEPS_S), f"> {STEPS_S[-1]:g} s"))
