"""kafka-go: Writers on a Transport, made as Writer{} or by NewWriter, and what a Client asks on their Transport."""

from collections.abc import Callable
from random import Random

from tools.fidelity_random.chance import Scenario, Step, likely, time
from tools.fidelity_random.fault_steps import draw_cold_faults, draw_faults
from tools.fidelity_random.senders import GIVE_UP_AFTER_S, burst, draw_partitions, expectations, warm_up
from tools.fidelity_random.shape import Shape, bootstrap, dead_addresses

VERSIONS = ("0.4.8", "0.4.9", "0.4.50")
COLD = 0.4
"""The part of the scenarios in which the fault is there before the client: its walk over the bootstrap list."""
LONG = 0.1
"""The part of the scenarios with the library's own long time-outs."""


def draw(rng: Random) -> Scenario:
    version, shape = rng.choice(VERSIONS), Shape.drawn(rng)
    cold, new_writer, long = likely(rng, COLD), likely(rng, 0.2), likely(rng, LONG)
    alone = cold and likely(rng, 0.5)
    dead = dead_addresses(rng, 4, dark=alone) if alone or likely(rng, 0.2) else []
    writers = ["main"] if likely(rng, 0.7) else ["main", "second"]
    steps = _cold(rng, shape, writers, faulty=not alone) if cold else _warm(rng, shape, writers)
    settings = _new_writer(rng) if new_writer else _writer(rng, version)
    client = {"profile": "kafka-go", "version": version, "producer": "NewWriter" if new_writer else "Writer"}
    return {
        "client": {**client, "bootstrap": bootstrap(rng, shape, dead)},
        "settings": {key: value for key, value in settings.items() if not (long and _is_time_out(key))},
        "cluster": shape.cluster,
        "steps": steps,
        "expect": expectations(steps),
    }


def _connects(writers: list[str]) -> list[Step]:
    return [{"do": "connect", "handle": writer, "as": f"connect_{writer}", "expect": "ok"} for writer in writers]


def _arguments(writers: list[str]) -> Callable[[Random], Step]:
    def drawn(rng: Random) -> Step:
        step: Step = {"handle": rng.choice(writers)}
        if likely(rng, 0.25):
            step["deadline"] = time(rng, 0.1, 3.0)
        return step

    return drawn


def _cold(rng: Random, shape: Shape, writers: list[str], *, faulty: bool) -> list[Step]:
    """Nothing is dialled before the first message. Without a fault, dead addresses are all that is wrong."""
    faults = draw_cold_faults(rng, shape) if faulty else ()
    first, second = draw_partitions(rng, shape, 3), draw_partitions(rng, shape, 2)
    return [
        *faults,
        *_connects(writers),
        *burst(rng, "a", first, _arguments(writers)),
        *(burst(rng, "b", second, _arguments(writers)) if likely(rng, 0.4) else ()),
    ]


def _warm(rng: Random, shape: Shape, writers: list[str]) -> list[Step]:
    first, second = draw_partitions(rng, shape, 3), draw_partitions(rng, shape, 2)
    faults = draw_faults(rng, shape, first[0], _close_idle(writers))
    follows = second if likely(rng, 0.3) else []
    if faults.second:
        follows = [first[0], *second[1:]]
    return [
        *_connects(writers),
        *warm_up([*first, *second]),
        *faults.first,
        *burst(rng, "a", first, _arguments(writers)),
        *([_asked(rng)] if likely(rng, 0.15) else []),
        *faults.second,
        *burst(rng, "b", follows, _arguments(writers)),
    ]


def _close_idle(writers: list[str]) -> list[Step]:
    """The next message dials anew."""
    return [{"do": "close_idle", "handle": writer, "as": f"idle_{writer}", "expect": "ok"} for writer in writers]


def _asked(rng: Random) -> Step:
    """What a Client asks: it shares the Transport."""
    what: Step = rng.choice([{"do": "list_offsets"}, {"do": "create_topics", "name": "fresh"}])
    limits = {"deadline": time(rng, 0.3, 3.0), "give_up_after": f"{GIVE_UP_AFTER_S}s"}
    return {**what, "as": "asked", **limits}


def _writer(rng: Random, version: str) -> dict[str, object]:
    drawn: dict[str, object] = {
        **_batching(rng, "Writer"),
        "Writer.RequiredAcks": rng.choice(["all"] * 5 + ["one"] * 2 + ["none"]),
        "Writer.WriteTimeout": time(rng, 0.4, 2.0),
        "Transport.DialTimeout": time(rng, 0.4, 2.0),
        # Short, or long beside the scenario.
        "Transport.MetadataTTL": rng.choice([time(rng, 0.3, 0.8), "20s"]),
        "NetDialer.Timeout": time(rng, 0.2, 1.2),
    }
    if likely(rng, 0.3):
        drawn["Writer.Compression"] = rng.choice(["gzip", "snappy", "lz4", "zstd"])
    if likely(rng, 0.1):
        drawn["Transport.IdleTimeout"] = time(rng, 0.2, 1.0)
    if version == "0.4.50" and likely(rng, 0.3):
        drawn |= {"Writer.WriteBackoffMin": time(rng, 0.02, 0.2), "Writer.WriteBackoffMax": time(rng, 0.2, 1.0)}
    return drawn


def _new_writer(rng: Random) -> dict[str, object]:
    """Its DialTimeout cannot be set: 5 s."""
    return {
        **_batching(rng, "WriterConfig"),
        "WriterConfig.RequiredAcks": rng.choice([-1, -1, 1]),
        "WriterConfig.WriteTimeout": time(rng, 0.4, 2.0),
        "WriterConfig.RebalanceInterval": rng.choice([time(rng, 0.3, 0.8), "20s"]),
        "Dialer.Timeout": time(rng, 0.2, 1.2),
    }


def _batching(rng: Random, group: str) -> dict[str, object]:
    return {
        f"{group}.BatchSize": rng.choice([1, 2, 100]),
        f"{group}.BatchTimeout": time(rng, 0.02, 0.5),
        f"{group}.MaxAttempts": rng.choice([1, 2, 3, 3, 5]),
    }


def _is_time_out(name: str) -> bool:
    return name.endswith(("DialTimeout", "WriteTimeout", "MetadataTTL", "NetDialer.Timeout", "Dialer.Timeout"))
