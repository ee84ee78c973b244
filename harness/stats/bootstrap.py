"""How sure a shift is: the same shift of many samples drawn from those that were measured.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13: percentile intervals.
"""

from collections.abc import Sequence

from harness.stats.interval import Interval
from harness.stats.shift import shift_interval

DRAWS = 2000
SEED = 20260302
"""Always the same draws: the same runs give the same interval to the last digit, in whatever order they come."""
MOST_DIFFERENCES = 10_000
"""Above so many differences between two runs the ranks say the same as drawing, in a fraction of the time."""
AT_ONCE = 2_000_000


def bootstrapped_shift(reference: Sequence[float], values: Sequence[float], *, chance: float) -> Interval:
    """Where the shift (`harness.stats.shift`) of `values` above `reference` lies, but for about this chance.

    It grows by exactly what is added to every value. Raises ValueError where one side is empty.
    """
    if not reference or not values:
        raise ValueError("a shift is one between two samples: one is empty")
    if len(reference) * len(values) > MOST_DIFFERENCES:
        return shift_interval(reference, values, chance=chance)
    import numpy as np

    below, above = np.sort(np.asarray(reference, dtype=float)), np.sort(np.asarray(values, dtype=float))
    random = np.random.default_rng(SEED)
    shifts = np.empty(DRAWS)
    step = max(1, AT_ONCE // (len(below) * len(above)))
    for first in range(0, DRAWS, step):
        draws = min(step, DRAWS - first)
        low = below[random.integers(0, len(below), (draws, len(below)))]
        high = above[random.integers(0, len(above), (draws, len(above)))]
        differences = (high[:, :, None] - low[:, None, :]).reshape(draws, -1)
        shifts[first : first + draws] = np.median(differences, axis=1, overwrite_input=True)
    ends = np.quantile(shifts, (chance / 2, 1 - chance / 2))
    return Interval(float(ends[0]), float(ends[1]))
