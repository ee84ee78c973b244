"""One connection's authentication: which requests it may send by now, and the exchange that opens it to all others.

States and what they take:

    NEEDED       ApiVersions, SaslHandshake
    BARE         the mechanism's messages, each behind its length (after SaslHandshake v0)
    EXCHANGING   SaslAuthenticate (after SaslHandshake v1)
    DONE         every request; a SaslHandshake is out of place

A client that fails is told so where the protocol has a field for it, and the connection ends.
Source: Apache Kafka, SaslServerAuthenticator.java; KIP-43, KIP-152. Left out: authentication that runs out (KIP-368),
and the pause before a refusal (`connection.failed.authentication.delay.ms`).
"""

import hmac
from enum import Enum, auto
from secrets import token_bytes, token_urlsafe
from typing import Protocol

from client.security.credentials import Credentials
from client.security.plain import decode_plain
from client.security.scram import DIGESTS, ScramError, ScramServer
from client.wire.apis.api_versions import API_VERSIONS
from client.wire.apis.sasl_authenticate import SASL_AUTHENTICATE
from client.wire.apis.sasl_handshake import SASL_HANDSHAKE
from harness.brokers.embedded.node import Disconnect
from harness.brokers.security import BrokerSecurity

MECHANISMS = ("PLAIN", *DIGESTS)
"""Those that a broker can offer."""

_SALT = token_bytes(16)
"""One for all users and brokers of a process, so that keys are derived once."""


class Refused(Exception):
    """The client is not who it says; the text is for it to read."""


class _State(Enum):
    NEEDED = auto()
    BARE = auto()
    EXCHANGING = auto()
    DONE = auto()


_ALLOWED = {
    _State.NEEDED: frozenset({API_VERSIONS.key, SASL_HANDSHAKE.key}),
    _State.BARE: frozenset[int](),
    _State.EXCHANGING: frozenset({SASL_AUTHENTICATE.key}),
}


class _Exchange(Protocol):
    done: bool

    def step(self, message: bytes) -> bytes: ...


class Authentication:
    """Where one connection stands. `ended`: the answer that is sent next is the last."""

    def __init__(self, security: BrokerSecurity) -> None:
        self.mechanisms = security.mechanisms
        self.ended = False
        self._credentials = security.credentials
        self._state = _State.NEEDED if security.mechanisms else _State.DONE
        self._exchange: _Exchange | None = None

    @property
    def takes_messages(self) -> bool:
        """Whether the next frame is a message of the mechanism's, and no request."""
        return self._state is _State.BARE

    def check_allowed(self, api_key: int) -> None:
        """Raises Disconnect for a request that is out of place."""
        allowed = _ALLOWED.get(self._state)
        if allowed is not None and api_key not in allowed:
            raise Disconnect(f"API {api_key} before authentication")

    def begin(self, mechanism: str, *, bare: bool) -> bool:
        """Start the mechanism's exchange; False where it is not offered, which ends the connection."""
        if mechanism not in self.mechanisms:
            self.ended = True
            return False
        self._exchange = _exchange(mechanism, self._credentials)
        self._state = _State.BARE if bare else _State.EXCHANGING
        return True

    @property
    def can_begin(self) -> bool:
        return self._state is _State.NEEDED

    @property
    def is_exchanging(self) -> bool:
        return self._state is _State.EXCHANGING

    def step(self, message: bytes) -> bytes:
        """The answer to the client's next message. Raises Refused, after which the connection ends."""
        assert self._exchange is not None, "check_allowed lets nothing through before begin"
        try:
            answer = self._exchange.step(message)
        except ScramError as wrong:
            self.ended = True
            raise Refused(f"Authentication failed: {wrong}") from wrong
        except Refused:
            self.ended = True
            raise
        if self._exchange.done:
            self._state = _State.DONE
        return answer


class _Plain:
    def __init__(self, credentials: Credentials) -> None:
        self.done = False
        self._credentials = credentials

    def step(self, message: bytes) -> bytes:
        said, right = decode_plain(message), self._credentials
        if (
            said is None
            or said.user != right.user
            or not hmac.compare_digest(said.password.encode(), right.password.encode())
        ):
            raise Refused("Authentication failed: Invalid username or password")
        self.done = True
        return b""


def _exchange(mechanism: str, credentials: Credentials) -> _Exchange:
    if mechanism == "PLAIN":
        return _Plain(credentials)
    passwords = {credentials.user: credentials.password}
    return ScramServer(mechanism, passwords, salt=_SALT, nonce=token_urlsafe(18))
