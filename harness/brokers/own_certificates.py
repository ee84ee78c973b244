"""A user's own certificate for the brokers: read from files, and tried as a client would try it."""

import ssl
from collections.abc import Callable, Iterable

from client.security.tls import TlsError, TlsFault, TlsSession, client_context, server_context
from harness.plan import CertificateFiles

KEYS = ("ca", "certificate", "key")
_MOST_BYTES = 1 << 20
"""Of one file: a chain has a few KiB."""
_PEM = "name a file in PEM: it has lines such as -----BEGIN CERTIFICATE-----"
_CALLED = {"certificate": "certificate", "key": "private key"}


class CertificateProblem(Exception):
    """What is wrong with the files. `key` says which: `ca`, `certificate` or `key`. Nothing that they hold is said."""

    def __init__(self, key: str, text: str, hint: str) -> None:
        super().__init__(text)
        self.key = key
        self.hint = hint


def unreadable_files(files: CertificateFiles) -> tuple[CertificateProblem, ...]:
    """One for each that cannot be read, so that all of them are said at once."""
    problems = []
    for key in KEYS:
        try:
            _text(files, key)
        except CertificateProblem as wrong:
            problems.append(wrong)
    return tuple(problems)


def read_certificate(files: CertificateFiles, hosts: Iterable[str]) -> tuple[str, ssl.SSLContext]:
    """The authority's certificates in PEM, and the brokers' context. `hosts` are what clients dial: names or addresses.

    Raises CertificateProblem for what clients that trust this authority would refuse, too.
    """
    ca_pem, certificate, key = (_text(files, name) for name in KEYS)
    try:
        trusting = client_context(ca_pem)
    except ValueError as wrong:
        raise CertificateProblem("ca", f"{files.ca} holds {wrong}", _PEM) from None
    for name, text, wanted in (("certificate", certificate, "CERTIFICATE-----"), ("key", key, "PRIVATE KEY-----")):
        if wanted not in text:
            raise CertificateProblem(name, f"{getattr(files, name)} holds no {_CALLED[name]} in PEM", _PEM)
    serving = server_context()
    asked: list[str] = []
    try:
        serving.load_cert_chain(files.folder / files.certificate, files.folder / files.key, _no_passphrase(asked))
    except (ssl.SSLError, ValueError) as wrong:
        if asked:
            hint = "write it without one: openssl pkey -in ... -out ..."
            raise CertificateProblem("key", f"{files.key} has a passphrase", hint) from None
        reason = getattr(wrong, "reason", None) or "it cannot be read"
        if reason == "KEY_VALUES_MISMATCH":
            text = f"{files.key} is not the key of {files.certificate}"
            raise CertificateProblem("key", text, "name the key that the certificate was made for") from None
        raise CertificateProblem("certificate", f"OpenSSL refuses {files.certificate}: {reason}", _PEM) from None
    for host in hosts:
        _try(files, trusting, serving, host)
    return ca_pem, serving


def _text(files: CertificateFiles, key: str) -> str:
    """At most the first _MOST_BYTES; never of a device or a pipe, whose end would not come."""
    name: str = getattr(files, key)
    try:
        path = files.folder / name
        if path.exists() and not path.is_file():
            raise CertificateProblem(key, f"{name} is no file", _PEM)
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("ascii", "backslashreplace")
    except (OSError, ValueError) as wrong:
        why = getattr(wrong, "strerror", None) or "no name of a file"
        hint = "paths are relative to the scenario's folder"
        raise CertificateProblem(key, f"{name} cannot be read: {why}", hint) from None


def _no_passphrase(asked: list[str]) -> Callable[[], str]:
    """Notes that one is asked for: OpenSSL would ask the terminal."""

    def passphrase() -> str:
        asked.append("")
        return ""

    return passphrase


def _try(files: CertificateFiles, trusting: ssl.SSLContext, serving: ssl.SSLContext, host: str) -> None:
    """Make the handshake in memory that a client will make."""
    client, server = TlsSession(trusting, server_name=host), TlsSession(serving)
    try:
        while not client.handshake():
            server.feed(client.outgoing())
            server.handshake()
            client.feed(server.outgoing())
    except TlsError as wrong:
        key, text, hint = {
            TlsFault.EXPIRED: (
                "certificate",
                f"{files.certificate} has expired, or is not valid yet",
                "make a new one; to test an expired one, write tls: true and inject tls, how: expired",
            ),
            TlsFault.WRONG_NAME: (
                "certificate",
                f"{files.certificate} is not for {host}",
                "make it for every broker's address, or write names: true and make it for their names",
            ),
            TlsFault.FOREIGN: (
                "ca",
                f"{files.ca} has not signed {files.certificate} ({wrong.detail})",
                "name the authority's certificate, and put those between both into the certificate's file",
            ),
        }.get(wrong.fault, ("certificate", f"OpenSSL refuses {files.certificate}: {wrong.detail}", _PEM))
        raise CertificateProblem(key, text, hint) from None
