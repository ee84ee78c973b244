"""The addresses in a cell. Every cell has its own loopback network, so all use the same ones."""

from ipaddress import ip_network

from harness.brokers.names import advertised_address as advertised_address

PORT = 9092

TOXIPROXY = ("127.0.3.1", 8474)
PROBES = "127.0.4.1"
"""Where the lab's own dials to advertised addresses come from, so that they can be distinguished from a client's."""
FULL_QUEUE = ("127.0.5.1", PORT)
"""Where a listener's accept queue is full; SYNs are redirected there, to the same port."""
ADVERTISED = ip_network("127.0.2.0/24")


def broker(broker_id: int) -> tuple[str, int]:
    """Where a broker itself listens; only its proxy dials it."""
    return (f"127.0.1.{broker_id}", PORT)


def text(address: tuple[str, int]) -> str:
    return f"{address[0]}:{address[1]}"


def proxy_name(broker_id: int) -> str:
    return f"broker-{broker_id}"
