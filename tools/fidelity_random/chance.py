"""Values drawn from a seeded generator, spelt as scenarios spell them."""

from random import Random

Scenario = dict[str, object]
Step = dict[str, object]


def time(rng: Random, low_s: float, high_s: float) -> str:
    """In whole milliseconds. Round numbers would meet one another, and the kernel's timers, far too often."""
    return f"{rng.randint(round(low_s * 1000), round(high_s * 1000))}ms"


def likely(rng: Random, chance: float) -> bool:
    return rng.random() < chance
