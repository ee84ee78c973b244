"""Names of brokers, for clusters whose clients reach them by name."""

from collections.abc import Callable

from harness.plan import ClusterShape

AddressLookup = Callable[[int], tuple[str, int]]
"""A broker's host and port."""

NAME_SERVER = ("127.0.6.1", 53)
"""Who knows the names, in every world."""

_DOMAIN = "kafka.test"
"""RFC 6761: no resolver outside of the lab knows such a name."""


def advertised_address(broker: int) -> tuple[str, int]:
    """Where a broker's proxy listens, in every world. Nothing listens at that of a number without a broker."""
    return f"127.0.2.{broker}", 9092


def broker_name(broker: int) -> str:
    return f"broker-{broker}.{_DOMAIN}"


def dialled_as(shape: ClusterShape, addresses: AddressLookup) -> AddressLookup:
    """What a broker advertises, by where its proxy listens: that address, or its name. Numbers of no broker stay
    addresses."""

    def dialled(broker: int) -> tuple[str, int]:
        host, port = addresses(broker)
        return (broker_name(broker) if shape.names and broker in shape.broker_ids else host, port)

    return dialled
