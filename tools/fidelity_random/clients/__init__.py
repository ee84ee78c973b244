"""Each client's way of drawing: a file each, which says what there is of it to be drawn."""

from collections.abc import Callable, Mapping
from random import Random

from tools.fidelity_random.chance import Scenario
from tools.fidelity_random.clients import kafka_go, kafka_go_dialer, sarama, sarama_guarded

CLIENTS: Mapping[str, Callable[[Random], Scenario]] = {
    "sarama": sarama.draw,
    "sarama-guarded": sarama_guarded.draw,
    "kafka-go": kafka_go.draw,
    "kafka-go-dialer": kafka_go_dialer.draw,
}
"""By the name of `--client`. A scenario is drawn without its name."""
