"""The cluster of a scenario, and what the client starts from."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tools.fidelity_random.chance import likely

TOPIC = "orders"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`leaders` has the leader of each partition; with `replicated` every broker has every partition."""

    brokers: int
    leaders: tuple[int, ...]
    replicated: bool

    @classmethod
    def drawn(cls, rng: Random) -> "Shape":
        brokers = rng.choice([1, 1, 2, 3, 3])
        leaders = tuple(rng.randint(1, brokers) for _ in range(rng.choice([1, 1, 2, 4])))
        return cls(brokers=brokers, leaders=leaders, replicated=brokers > 1 and likely(rng, 0.5))

    @property
    def cluster(self) -> dict[str, object]:
        topic: dict[str, object] = {"name": TOPIC, "partitions": len(self.leaders), "leaders": list(self.leaders)}
        if self.replicated:
            topic["replication"] = self.brokers
        return {"brokers": self.brokers, "topics": [topic]}


def bootstrap(rng: Random, shape: Shape, dead: Sequence[str] = ()) -> list[int | str]:
    """Some of the brokers, and these addresses of no member, in any order."""
    members = rng.sample(range(1, shape.brokers + 1), rng.randint(1, shape.brokers))
    return rng.sample([*members, *dead], len(members) + len(dead))


def dead_addresses(rng: Random, most: int, *, dark: bool) -> list[str]:
    """Up to so many addresses that refuse, some of them `dark` instead: a dial there may take all the time there is."""
    kinds = ["dark", "refused"] if dark else ["refused"]
    return [rng.choice(kinds) for _ in range(rng.randint(1, most))]
