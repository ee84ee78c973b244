"""Which real clients the tests use that are not slow: a new machine takes minutes to compile all of them."""

from harness.realclients import RealClient, real_clients

OLDER = {("kafka-go", "0.4.8"), ("kafka-go", "0.4.9")}


def quick_clients() -> tuple[RealClient, ...]:
    return tuple(client for client in real_clients() if (client.name, client.version) not in OLDER)
