"""Each client's way of drawing: a file each, which says what there is of it to be drawn."""

from collections.abc import Callable, Mapping
from random import Random

from tools.fidelity_random.chance import Scenario
from tools.fidelity_random.clients import kafka_go, sarama

CLIENTS: Mapping[str, Callable[[Random], Scenario]] = {"sarama": sarama.draw, "kafka-go": kafka_go.draw}
"""By the name of `--client`. A scenario is drawn without its name."""
