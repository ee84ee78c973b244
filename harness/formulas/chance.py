"""What formulas know of chance, whatever the client: who comes first in a shuffled list, the longer of two waits."""

from collections.abc import Callable
from math import comb


def shuffled_before(number: float, dead: float, live: float) -> float:
    """The chance that exactly `number` of the dead come before the first of the live in a shuffled list of both.

    Without a live one, all of the dead come first. Raises ValueError for numbers that no list has.
    """
    met, dead_count, live_count = _whole(number), _whole(dead), _whole(live)
    if live_count == 0:
        return float(met == dead_count)
    if met > dead_count:
        return 0.0
    # The first live one stands in place met + 1, and the other live ones somewhere behind it.
    all_of_them = dead_count + live_count
    return comb(all_of_them - met - 1, live_count - 1) / comb(all_of_them, live_count)


def mean_of_longer_s(least_s: float, up_to_s: float) -> float:
    """The mean of the longer of a time and a wait that is drawn uniformly from 0 to `up_to_s`."""
    if least_s >= up_to_s:
        return least_s
    return (least_s * least_s / up_to_s + up_to_s) / 2


CHANCE_FUNCTIONS: dict[str, Callable[..., float]] = {
    "mean_of_longer": mean_of_longer_s,
    "shuffled_before": shuffled_before,
}
"""By the names that formulas call them."""


def _whole(value: float) -> int:
    if value < 0 or not float(value).is_integer():
        raise ValueError(f"{value:g} is no number of addresses")
    return int(value)
