"""Sarama: its SyncProducer and its AsyncProducer, with the settings that decide how they meet a fault."""

from random import Random

from tools.fidelity_random.chance import Scenario, Step, likely, time
from tools.fidelity_random.fault_steps import draw_cold_faults, draw_faults, reset
from tools.fidelity_random.senders import GIVE_UP_AFTER_S, burst, draw_partitions, expectations, warm_up
from tools.fidelity_random.shape import Shape, bootstrap, dead_addresses

VERSIONS = ("1.27.2", "1.60.1")
COLD = 0.2
"""The part of the scenarios in which the fault is there before the client."""


def draw(rng: Random, shape: Shape | None = None) -> Scenario:
    """At a cluster of this shape; one of any shape where absent."""
    version, shape = rng.choice(VERSIONS), shape or Shape.drawn(rng)
    cold = likely(rng, COLD)
    alone = cold and likely(rng, 0.3)
    dead = dead_addresses(rng, 2, dark=alone) if alone or likely(rng, 0.15) else []
    steps = _cold(rng, shape, faulty=not alone) if cold else _warm(rng, shape)
    client = {"profile": "sarama", "version": version, "producer": rng.choice(["sync", "async"])}
    return {
        "client": {**client, "bootstrap": bootstrap(rng, shape, dead)},
        "settings": _settings(rng, version),
        "cluster": shape.cluster,
        "steps": steps,
        "expect": expectations(steps),
    }


def _cold(rng: Random, shape: Shape, *, faulty: bool) -> list[Step]:
    """Sarama's constructors ask for metadata. Without a fault, dead addresses are all that is wrong."""
    faults = draw_cold_faults(rng, shape) if faulty else ()
    return [*faults, {"do": "connect", "as": "probe", "give_up_after": f"{GIVE_UP_AFTER_S}s"}]


def _warm(rng: Random, shape: Shape) -> list[Step]:
    first, second = draw_partitions(rng, shape, 3), draw_partitions(rng, shape, 2)
    faults = draw_faults(rng, shape, first[0], [reset(shape, first[0])])
    follows = second if likely(rng, 0.3) else []
    if faults.second:
        follows = [first[0], *second[1:]]
    return [
        {"do": "connect", "expect": "ok"},
        *warm_up([*first, *follows]),
        *faults.first,
        *burst(rng, "a", first),
        *faults.second,
        *burst(rng, "b", follows),
    ]


def _settings(rng: Random, version: str) -> dict[str, object]:
    drawn: dict[str, object] = {
        "Net.DialTimeout": time(rng, 0.2, 0.9),
        "Net.ReadTimeout": time(rng, 0.3, 1.5),
        "Net.WriteTimeout": time(rng, 0.5, 3.0),
        "Producer.RequiredAcks": rng.choice(["WaitForAll"] * 6 + ["WaitForLocal"] * 3 + ["NoResponse"]),
        "Producer.Retry.Max": rng.randint(0, 3),
        "Producer.Retry.Backoff": time(rng, 0.03, 0.4),
        "Metadata.Retry.Max": rng.randint(0, 3),
        "Metadata.Retry.Backoff": time(rng, 0.03, 0.4),
    }
    if likely(rng, 0.25):
        drawn |= {"Producer.Flush.Messages": rng.randint(1, 3), "Producer.Flush.Frequency": time(rng, 0.05, 0.5)}
    if likely(rng, 0.25):
        drawn["Metadata.RefreshFrequency"] = time(rng, 0.7, 3.0)
    if likely(rng, 0.3):
        drawn["Producer.Compression"] = rng.choice(["gzip", "snappy", "lz4"])
    if likely(rng, 0.15):
        drawn |= {"Producer.Idempotent": True, "Net.MaxOpenRequests": 1, "Producer.RequiredAcks": "WaitForAll",
                  "Producer.Retry.Max": rng.randint(1, 3), "Version": "1.0.0"}  # fmt: skip
    elif likely(rng, 0.2):
        drawn["Net.MaxOpenRequests"] = rng.randint(1, 3)
    if likely(rng, 0.1):
        drawn["Metadata.Full"] = False
    if likely(rng, 0.1):
        drawn["Metadata.Timeout"] = time(rng, 0.5, 2.0)
    if version == "1.60.1" and likely(rng, 0.2):
        drawn["ApiVersionsRequest"] = False
    return drawn
