"""A TLS session over memory: ciphertext goes in and out, and the owner of the socket moves it.

The same bytes' worth of handshake happens on real sockets and on simulated ones. What a simulation repeats is which
messages go when; the ciphertext, and by a few bytes its length, differ each time, since keys are made anew.
"""

import ssl
from enum import StrEnum
from functools import lru_cache

_READ_BYTES = 1 << 16


class TlsFault(StrEnum):
    """Why a session failed."""

    EXPIRED = "expired"
    """The certificate's time is over, or has not begun."""
    FOREIGN = "foreign"
    """Nobody who is trusted has signed the certificate."""
    WRONG_NAME = "wrong_name"
    """The certificate is another host's."""
    ALERT = "alert"
    """The other side says that something is wrong."""
    NO_TLS = "no_tls"
    """What came is no TLS."""


_BY_VERIFY_CODE = {9: TlsFault.EXPIRED, 10: TlsFault.EXPIRED, 62: TlsFault.WRONG_NAME, 64: TlsFault.WRONG_NAME}
"""OpenSSL's X509_V_ERR_*; every other one is about who has signed."""


class TlsError(Exception):
    """The session is over. `detail` is OpenSSL's text."""

    def __init__(self, fault: TlsFault, detail: str) -> None:
        super().__init__(f"{fault}: {detail}")
        self.fault = fault
        self.detail = detail


class TlsSession:
    """One end. After each call that is not `outgoing`, send what `outgoing` gives, also where the call has raised."""

    def __init__(self, context: ssl.SSLContext, *, server_name: str | None = None) -> None:
        """`server_name`: of the server that a client wants; None at the server's end."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._session = context.wrap_bio(
            self._incoming, self._outgoing, server_side=server_name is None, server_hostname=server_name
        )
        self.established = False

    def feed(self, ciphertext: bytes) -> None:
        self._incoming.write(ciphertext)

    def outgoing(self) -> bytes:
        """Ciphertext to send, taken out; empty where there is none."""
        return self._outgoing.read()

    def handshake(self) -> bool:
        """Take the next step; whether it was the last one. Raises TlsError."""
        try:
            self._session.do_handshake()
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError as wrong:
            raise _failed(wrong) from None
        self.established = True
        return True

    def write(self, data: bytes) -> None:
        """Encrypt. The handshake must be over. Raises TlsError."""
        view = memoryview(data)
        try:
            while view:
                view = view[self._session.write(view) :]
        except ssl.SSLError as wrong:
            raise _failed(wrong) from None

    def read(self) -> bytes | None:
        """What can be decrypted by now, empty where more ciphertext is needed; None where the other side has said that
        no more comes. Raises TlsError."""
        parts: list[bytes] = []
        try:
            while data := self._session.read(_READ_BYTES):
                parts.append(data)
        except ssl.SSLWantReadError:
            return b"".join(parts)
        except ssl.SSLZeroReturnError:
            pass
        except ssl.SSLError as wrong:
            raise _failed(wrong) from None
        return b"".join(parts) or None


@lru_cache(maxsize=16)
def client_context(ca_pem: str | None) -> ssl.SSLContext:
    """A client's context that trusts these authorities and nobody else, None: nobody. It looks at the server's name.

    Raises ValueError where the text holds no certificate that can be read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_pem is not None:
        try:
            context.load_verify_locations(cadata=ca_pem)
        except ssl.SSLError as wrong:
            raise ValueError(f"no certificates in PEM: {wrong.reason or wrong}") from None
    return context


def server_context() -> ssl.SSLContext:
    """A server's context, which still needs a certificate. No session is resumed, so no tickets are sent."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.num_tickets = 0
    return context


def _failed(error: ssl.SSLError) -> TlsError:
    detail = error.reason or str(error)
    if isinstance(error, ssl.SSLCertVerificationError):
        return TlsError(_BY_VERIFY_CODE.get(error.verify_code, TlsFault.FOREIGN), error.verify_message)
    return TlsError(TlsFault.ALERT if "ALERT" in detail else TlsFault.NO_TLS, detail)
