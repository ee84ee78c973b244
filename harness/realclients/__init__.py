"""Real clients: the libraries themselves, as programs that speak the subject protocol, built into the user's cache.

Their sources are in the top-level folder `realclients`: a folder a client, and in its `releases` a module file for each
release that can be built.
"""

from harness.realclients.build import build
from harness.realclients.catalogue import (
    RealClient,
    RealClientMissing,
    UnknownRealClient,
    real_client,
    real_clients,
    select_clients,
)

__all__ = [
    "RealClient",
    "RealClientMissing",
    "UnknownRealClient",
    "build",
    "real_client",
    "real_clients",
    "select_clients",
]
