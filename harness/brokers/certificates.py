"""Certificates of brokers, made anew in each process by an authority that no other machine trusts.

Only runs with TLS need them, and their library takes 45 ms to load: cells find it loaded, a simulated run imports it
when it needs it.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from client.security.tls import server_context
from harness.brokers.own_certificates import read_certificate
from harness.levers import CertificateFlaw
from harness.plan import CertificateFiles

if TYPE_CHECKING:
    import trustme

_ELSEWHERE = "another-host.invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """`ca_pem` is what clients are to trust; `ordinary` is a server's context with the right certificate, `flawed`
    have one with a flaw each."""

    ca_pem: str
    ordinary: ssl.SSLContext
    flawed: Mapping[CertificateFlaw, ssl.SSLContext]


_making = Lock()


def certificates_for(hosts: tuple[str, ...], own: CertificateFiles | None = None) -> Certificates:
    """Made once a process, whatever thread asks; every certificate but that of another host is for all of these names
    and addresses. With a user's own only a foreign one is flawed: nothing can be signed in the user's name. Raises
    CertificateProblem where that is refused now."""
    with _making:
        return _made(hosts, own)


@cache
def _made(hosts: tuple[str, ...], own: CertificateFiles | None) -> Certificates:
    import trustme

    ours, foreign = trustme.CA(), trustme.CA()
    if own is not None:
        ca_pem, ordinary = read_certificate(own, hosts)
        return Certificates(ca_pem=ca_pem, ordinary=ordinary, flawed={"foreign": _context(foreign.issue_cert(*hosts))})
    return Certificates(
        ca_pem=ours.cert_pem.bytes().decode(),
        ordinary=_context(ours.issue_cert(*hosts)),
        flawed={
            "expired": _context(ours.issue_cert(*hosts, not_after=datetime(2001, 1, 1, tzinfo=UTC))),
            "foreign": _context(foreign.issue_cert(*hosts)),
            "wrong_name": _context(ours.issue_cert(_ELSEWHERE)),
        },
    )


def _context(leaf: "trustme.LeafCert") -> ssl.SSLContext:
    context = server_context()
    leaf.configure_cert(context)
    return context
