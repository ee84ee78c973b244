"""The cluster of a scenario, and what the client starts from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from random import Random

from tools.fidelity_random.chance import likely

TOPIC = "orders"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`leaders` has the leader of each partition; with `replicated` every broker has every partition. `tls`, `sasl` and
    `names` are those of a scenario's cluster."""

    brokers: int
    leaders: tuple[int, ...]
    replicated: bool
    tls: bool = False
    sasl: tuple[str, ...] = ()
    names: bool = False

    @classmethod
    def drawn(cls, rng: Random) -> "Shape":
        brokers = rng.choice([1, 1, 2, 3, 3])
        leaders = tuple(rng.randint(1, brokers) for _ in range(rng.choice([1, 1, 2, 4])))
        return cls(brokers=brokers, leaders=leaders, replicated=brokers > 1 and likely(rng, 0.5))

    def secured(self, rng: Random) -> "Shape":
        """The same brokers, behind TLS, SASL, names, or several of them."""
        mechanisms = tuple(rng.sample(MECHANISMS, rng.choice([1, 1, 2])))
        kinds: list[dict[str, object]] = [{"tls": True}, {"sasl": mechanisms}, {"names": True}]
        chosen = rng.choice([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1)])
        changes: dict[str, object] = {}
        for kind in compress(kinds, chosen):
            changes |= kind
        return replace(self, **changes)  # type: ignore[arg-type]

    @property
    def cluster(self) -> dict[str, object]:
        topic: dict[str, object] = {"name": TOPIC, "partitions": len(self.leaders), "leaders": list(self.leaders)}
        if self.replicated:
            topic["replication"] = self.brokers
        asked = {"tls": self.tls, "sasl": list(self.sasl), "names": self.names}
        return {"brokers": self.brokers, "topics": [topic], **{key: value for key, value in asked.items() if value}}


def bootstrap(rng: Random, shape: Shape, dead: Sequence[str] = ()) -> list[int | str]:
    """Some of the brokers, and these addresses of no member, in any order."""
    members = rng.sample(range(1, shape.brokers + 1), rng.randint(1, shape.brokers))
    return rng.sample([*members, *dead], len(members) + len(dead))


def dead_addresses(rng: Random, most: int, *, dark: bool) -> list[str]:
    """Up to so many addresses that refuse, some of them `dark` instead: a dial there may take all the time there is."""
    kinds = ["dark", "refused"] if dark else ["refused"]
    return [rng.choice(kinds) for _ in range(rng.randint(1, most))]
