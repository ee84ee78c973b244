"""Everything that a run would otherwise import or build by itself, done once in the zygote."""

import codecs
import encodings.idna  # noqa: F401 - what asyncio needs at its first dial

import dnslib  # noqa: F401 - what a name server and a client's first look-up need
import trustme  # noqa: F401 - what brokers with TLS make their certificates with

from client.profiles import profiles
from harness.brokers.embedded.handlers import prepare_all


def preload() -> None:
    """Takes most of a second of computing; a fork afterwards has all of it for nothing."""
    codecs.lookup("idna")
    prepare_all()
    profiles()
