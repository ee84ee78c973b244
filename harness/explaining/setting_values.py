"""Other values of a setting, as people write them into a configuration."""

import math

DIGITS = 2
FARTHEST = 20
"""So many counts next to a value, and next to 0, are tried: a count may be as large as the client's integers are."""


def rounded_down(value: float) -> float:
    """To two digits: 0.2816 is 0.28. Never more than the value, which is at least 0."""
    if value <= 0:
        return 0.0
    power = 10.0 ** (math.floor(math.log10(value)) - DIGITS + 1)
    return round(math.floor(value / power + 1e-9) * power, 9)


def lower_counts(value: int) -> tuple[int, ...]:
    """Counts below `value` down to 0, highest first; of very many those near both ends."""
    near_value = range(max(0, value - FARTHEST), value)
    return tuple(sorted({*near_value, *range(min(value, FARTHEST))}, reverse=True))
