"""Other values of a setting, as people write them into a configuration."""

import math

ROUND_NUMBERS = (1.0, 1.2, 1.5, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0)
"""First digits of values that people choose."""
FARTHEST = 20
"""So many counts next to a value, and next to 0, are tried: a count may be as large as the client's integers are."""


def rounded_down(value: float, *, least: float = 0.0) -> float:
    """The next round number below: 0.2816 is 0.25. Below `least`, that with two digits, rounded up: 0.61 for 0.607."""
    if value <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value) + 1e-12)
    found = round(max(digits for digits in ROUND_NUMBERS if digits * power <= value * (1 + 1e-9)) * power, 9)
    return found if found >= least else _rounded_up(least)


def lower_counts(value: int) -> tuple[int, ...]:
    """Counts below `value` down to 0, highest first; of very many those near both ends."""
    near_value = range(max(0, value - FARTHEST), value)
    return tuple(sorted({*near_value, *range(min(value, FARTHEST))}, reverse=True))


def _rounded_up(value: float) -> float:
    """To two digits."""
    power = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.ceil(value / power - 1e-9) * power, 9)
