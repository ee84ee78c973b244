"""What the brokers of a cluster ask of their clients: TLS and authentication."""

from collections.abc import Iterable
from dataclasses import dataclass
from secrets import token_urlsafe

from client.security.credentials import Credentials
from harness.brokers.certificates import Certificates, certificates_for
from harness.plan import ClusterShape

_ACCOUNT = Credentials(user="faultlab", password=token_urlsafe(18))


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSecurity:
    """`certificates` None: plain text. `mechanisms` empty: clients do not authenticate. `credentials` are the only
    ones that are right, made anew in each process."""

    certificates: Certificates | None = None
    mechanisms: tuple[str, ...] = ()
    credentials: Credentials = _ACCOUNT

    @property
    def launch_keys(self) -> dict[str, object]:
        """What a client has to know of it: keys of the launch record (docs/SUBJECT_PROTOCOL.md)."""
        keys: dict[str, object] = {}
        if self.certificates is not None:
            keys["tls"] = {"ca": self.certificates.ca_pem}
        if self.mechanisms:
            keys["sasl"] = {"user": self.credentials.user, "password": self.credentials.password}
        return keys


PLAINTEXT = BrokerSecurity()
"""Brokers that ask nothing."""


def security_of(shape: ClusterShape, hosts: Iterable[str]) -> BrokerSecurity:
    """That of a cluster whose brokers are dialled under these names or addresses: the same one each time that a process
    and its forks ask."""
    return BrokerSecurity(
        certificates=certificates_for(tuple(dict.fromkeys(hosts)), shape.certificates) if shape.tls else None,
        mechanisms=shape.sasl,
    )
