"""Who is where on the simulated network: as in a cell, so that both worlds' traces read alike."""

from harness.brokers.names import advertised_address as advertised_address

PORT = 9092

PROBES = "127.0.4.1"
"""Where the lab's own dials to advertised addresses come from, so that they can be distinguished from a client's."""
