"""Sarama behind TLS, SASL and names: what its other scenarios have, at brokers that ask who comes."""

from random import Random

from tools.fidelity_random.chance import Scenario
from tools.fidelity_random.clients import sarama
from tools.fidelity_random.shape import Shape


def draw(rng: Random) -> Scenario:
    shape = Shape.drawn(rng).secured(rng)
    drawn = sarama.draw(rng, shape)
    guards: dict[str, object] = {}
    if shape.tls:
        guards["Net.TLS.Enable"] = True
    if shape.sasl:
        guards |= {"Net.SASL.Enable": True, "Net.SASL.Mechanism": rng.choice(shape.sasl)}
    return {**drawn, "settings": {**drawn["settings"], **guards}}  # type: ignore[dict-item]
