"""kafka-go's Dialer: its six operations, with what limits them, behind TLS, SASL and names."""

from random import Random

from tools.fidelity_random.chance import Scenario, Step, likely, time
from tools.fidelity_random.clients.kafka_go import VERSIONS
from tools.fidelity_random.fault_steps import (
    DAMAGES,
    FAULTS,
    FaultKind,
    draw_cold_faults,
    draw_faults,
)
from tools.fidelity_random.senders import expectations
from tools.fidelity_random.shape import Shape, bootstrap

GIVE_UP_AFTER_S = 12
"""What has no limit of its own hangs: it is not waited for as long as a Writer."""
COLD, SECURED = 0.4, 0.7
"""The parts of the scenarios in which a fault is there from the beginning, and in which something guards the way in."""
OF_PARTITIONS = ("dial_leader", "dial_leader", "lookup_partition", "lookup_leader")
ERRORS = ("LEADER_NOT_AVAILABLE", "TOPIC_AUTHORIZATION_FAILED", "UNKNOWN_TOPIC_OR_PARTITION", "REQUEST_TIMED_OUT")
REQUESTS = (
    FaultKind("silence", "requests"),
    FaultKind("slow_answer", "requests", lambda rng, _, __: {"delay": time(rng, 0.1, 1.2)}),
    FaultKind("slow_broker", "requests", lambda rng, _, __: {"delay": time(rng, 0.1, 1.2)}),
    FaultKind("error_answer", "requests", lambda rng, _, __: {"api": "metadata", "code": rng.choice(ERRORS)}),
    FaultKind("correlation_mismatch", "requests", lambda _, __, ___: {"api": "metadata"}),
    FaultKind("bad_frame", "requests", lambda rng, _, __: {"api": "metadata", "damage": rng.choice(DAMAGES)}),
)
"""A Dialer asks for metadata alone."""
AMONG = (*(one for one in FAULTS if one.kind != "requests"), *REQUESTS)


def draw(rng: Random) -> Scenario:
    version, shape = rng.choice(VERSIONS), Shape.drawn(rng)
    if likely(rng, SECURED):
        shape = shape.secured(rng)
    steps = _cold(rng, shape) if likely(rng, COLD) else _warm(rng, shape)
    client = {"profile": "kafka-go", "version": version, "producer": "Dialer", "bootstrap": bootstrap(rng, shape)[:1]}
    return {
        "client": client,
        "settings": _settings(rng, shape),
        "cluster": shape.cluster,
        "steps": steps,
        "expect": expectations(steps, GIVE_UP_AFTER_S),
    }


def _cold(rng: Random, shape: Shape) -> list[Step]:
    return [*draw_cold_faults(rng, shape), {"do": "connect", "expect": "ok"}, *_asked(rng, shape, "a")]


def _warm(rng: Random, shape: Shape) -> list[Step]:
    """Every operation dials, so that nothing has to be disconnected."""
    partition = rng.randrange(len(shape.leaders))
    faults = draw_faults(rng, shape, partition, (), AMONG)
    return [
        {"do": "connect", "expect": "ok"},
        {"do": "lookup_partition", "partition": partition, "as": "known", "deadline": "5s", "expect": "ok"},
        *faults.first,
        *_asked(rng, shape, "a", partition),
        *faults.second,
        *(_asked(rng, shape, "b", partition) if faults.second else ()),
    ]


def _asked(rng: Random, shape: Shape, name: str, known: int | None = None) -> list[Step]:
    """`known` is a partition that has been looked up, if any. The first one asks a broker for something and dials the
    leader of `known`, if there is one: faults strike there."""
    steps = [_operation(rng, shape, f"{name}{index}", known) for index in range(rng.randint(1, 3))]
    where = rng.randrange(len(shape.leaders)) if known is None else known
    steps[0] |= {"do": rng.choice(OF_PARTITIONS) if known is None else "dial_leader", "partition": where}
    return steps


def _operation(rng: Random, shape: Shape, alias: str, known: int | None) -> Step:
    step: Step = {"do": rng.choice([*OF_PARTITIONS, "dial", "lookup_partitions", "dial_partition"]), "as": alias}
    if step["do"] == "dial_partition" and known is None:
        step["do"] = "dial"
    if step["do"] == "dial_partition":
        step["partition"] = known
    elif step["do"] in OF_PARTITIONS:
        missing = likely(rng, 0.08)
        step["partition"] = len(shape.leaders) if missing else rng.randrange(len(shape.leaders))
    if likely(rng, 0.7):
        step["deadline"] = time(rng, 0.2, 4.0)
    if likely(rng, 0.3):
        step["after"] = time(rng, 0.02, 0.5)
    return {**step, "give_up_after": f"{GIVE_UP_AFTER_S}s"}


def _settings(rng: Random, shape: Shape) -> dict[str, object]:
    drawn: dict[str, object] = {"Dialer.Timeout": "0s" if likely(rng, 0.1) else time(rng, 0.3, 1.5)}
    if likely(rng, 0.2):
        drawn["Dialer.Deadline"] = time(rng, 0.5, 4.0)
    if likely(rng, 0.2):
        drawn["Dialer.FallbackDelay"] = rng.choice(["-1s", time(rng, 0.02, 0.6)])
    if likely(rng, 0.15):
        drawn |= {"Dialer.DialFunc": "own", "NetDialer.Timeout": time(rng, 0.2, 1.2)}
    elif likely(rng, 0.1):
        drawn["Dialer.LocalAddr"] = "127.0.0.9"
    if likely(rng, 0.1):
        drawn["Dialer.ClientID"] = "somebody"
    if shape.tls:
        drawn["Dialer.TLS"] = "lab"
    if shape.sasl:
        drawn["Dialer.SASLMechanism"] = rng.choice(shape.sasl)
    if shape.names and not shape.tls and likely(rng, 0.3):  # it makes the address the server's name
        drawn["Dialer.Resolver"] = "system"
    return drawn
