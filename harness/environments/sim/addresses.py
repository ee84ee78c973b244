"""Who is where on the simulated network: as in a cell, so that both worlds' traces read alike."""

PORT = 9092

PROBES = "127.0.4.1"
"""Where the lab's own dials to advertised addresses come from, so that they can be distinguished from a client's."""


def advertised_address(broker: int) -> tuple[str, int]:
    """What a broker advertises to clients: its proxy. Nothing listens at that of a number without a broker."""
    return f"127.0.2.{broker}", PORT
