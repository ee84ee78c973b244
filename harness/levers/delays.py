"""How late packets come, one after another: constant, from a list, or drawn from a seeded distribution."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from random import Random
from typing import Literal

Spread = Literal["uniform", "normal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delays:
    """`seconds` in this order, the last one for all that come later.

    `jitter_s` spreads each of them: plus or minus so much (`uniform`), or with this standard deviation (`normal`); what
    would come out negative is 0. The same `seed` gives the same delays in every world.
    """

    seconds: tuple[float, ...]
    jitter_s: float = 0.0
    spread: Spread = "uniform"
    seed: str = ""

    def __post_init__(self) -> None:
        if not self.seconds or min(self.seconds) < 0 or self.jitter_s < 0:
            raise ValueError("delays are at least 0 s, and there is at least one")

    def __iter__(self) -> Iterator[float]:
        """Without an end; each iteration begins anew."""
        endless = chain(self.seconds, repeat(self.seconds[-1]))
        if not self.jitter_s:
            return endless
        chance = Random(self.seed)
        draw = chance.gauss if self.spread == "normal" else lambda middle, by: chance.uniform(middle - by, middle + by)
        return (max(0.0, draw(second, self.jitter_s)) for second in endless)
