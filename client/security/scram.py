"""The SCRAM exchange, both sides: four messages, after which each side knows that the other has the password.

    client                                       server
    n,,n=USER,r=NONCE                     ->
                                          <-     r=NONCE+MORE,s=SALT,i=ITERATIONS
    c=biws,r=NONCE+MORE,p=PROOF           ->
                                          <-     v=SIGNATURE

Source: RFC 5802, RFC 7677. Left out: channel binding, and SASLprep, which changes no ASCII password.
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import new, pbkdf2_hmac

from client.security.credentials import Credentials

DIGESTS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
"""The hash of each mechanism, by its SASL name."""

_NO_BINDING = "n,,"
_LOWEST_ITERATIONS = 4096


class ScramError(Exception):
    """The other side's message is wrong, or its proof is. The text names no secret."""


class ScramClient:
    """The client's side. `step(b"")` gives the first message; each answer of the server's goes into the next step."""

    def __init__(self, mechanism: str, credentials: Credentials, *, nonce: str, authorization_id: str = "") -> None:
        """`nonce` is printable ASCII without a comma, new for each exchange.

        Raises KeyError for an unknown mechanism.
        """
        self._digest = DIGESTS[mechanism]
        self._credentials = credentials
        self._nonce = nonce
        self._binding = f"n,a={_escaped(authorization_id)}," if authorization_id else _NO_BINDING
        self._first_bare = f"n={_escaped(credentials.user)},r={nonce}"
        self._signature: bytes | None = None
        self._begun = False
        self.done = False

    def step(self, challenge: bytes) -> bytes:
        """The next message to send; empty once `done`. Raises ScramError."""
        if not self._begun:
            self._begun = True
            return (self._binding + self._first_bare).encode()
        if self._signature is None:
            return self._prove(challenge)
        self._verify(challenge)
        self.done = True
        return b""

    def _prove(self, challenge: bytes) -> bytes:
        text = _text(challenge)
        fields = _fields(text)
        try:
            nonce, salt, iterations = fields["r"], b64decode(fields["s"], validate=True), int(fields["i"])
        except (KeyError, ValueError) as wrong:
            raise ScramError("the server's first message lacks a nonce, a salt or iterations") from wrong
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise ScramError("the server's nonce does not continue the client's")
        if iterations < _LOWEST_ITERATIONS:
            raise ScramError(f"the server asks for {iterations} iterations, fewer than {_LOWEST_ITERATIONS}")
        keys = stored_keys(self._digest, self._credentials.password, salt, iterations)
        without_proof = f"c={b64encode(self._binding.encode()).decode()},r={nonce}"
        message = ",".join((self._first_bare, text, without_proof)).encode()
        self._signature = _hmac(keys.server_key, message, self._digest)
        proof = _xor(keys.client_key, _hmac(keys.stored_key, message, self._digest))
        return f"{without_proof},p={b64encode(proof).decode()}".encode()

    def _verify(self, final: bytes) -> None:
        fields = _fields(_text(final))
        if "e" in fields:
            raise ScramError(f"the server refuses: {fields['e']}")
        assert self._signature is not None
        if not hmac.compare_digest(fields.get("v", ""), b64encode(self._signature).decode()):
            raise ScramError("the server does not know the password")


class ScramServer:
    """The server's side of one exchange. After two steps `done` says that the client knows the password."""

    def __init__(self, mechanism: str, passwords: Mapping[str, str], *, salt: bytes, nonce: str) -> None:
        """`passwords` by user. Raises KeyError for an unknown mechanism."""
        self._digest = DIGESTS[mechanism]
        self._passwords = passwords
        self._salt = salt
        self._nonce = nonce
        self._first_bare = ""
        self._first = ""
        self._password: str | None = None
        self.done = False

    def step(self, message: bytes) -> bytes:
        """The answer to a message of the client's. Raises ScramError: the client is refused."""
        text = _text(message)
        return self._challenge(text) if not self._first else self._conclude(text)

    def _challenge(self, text: str) -> bytes:
        parts = text.split(",", 2)
        if len(parts) < 3 or parts[0] not in ("n", "y"):
            raise ScramError("the client's first message is none")
        self._first_bare = parts[2]
        fields = _fields(self._first_bare)
        if "n" not in fields or not fields.get("r"):
            raise ScramError("the client's first message lacks a user or a nonce")
        self._password = self._passwords.get(fields["n"].replace("=2C", ",").replace("=3D", "="))
        salt = b64encode(self._salt).decode()
        self._first = f"r={fields['r']}{self._nonce},s={salt},i={_LOWEST_ITERATIONS}"
        return self._first.encode()

    def _conclude(self, text: str) -> bytes:
        without_proof, _, proof = text.rpartition(",p=")
        fields = _fields(without_proof)
        if self._password is None:
            raise ScramError("there is no such user")
        if fields.get("r") != _fields(self._first)["r"]:
            raise ScramError("the client's nonce is another's")
        keys = stored_keys(self._digest, self._password, self._salt, _LOWEST_ITERATIONS)
        message = ",".join((self._first_bare, self._first, without_proof)).encode()
        wanted = _xor(keys.client_key, _hmac(keys.stored_key, message, self._digest))
        if not hmac.compare_digest(proof, b64encode(wanted).decode()):
            raise ScramError("the client does not know the password")
        self.done = True
        return b"v=" + b64encode(_hmac(keys.server_key, message, self._digest))


@dataclass(frozen=True, slots=True)
class StoredKeys:
    """What follows from a password, for both sides."""

    client_key: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)


@lru_cache(maxsize=64)
def stored_keys(digest: str, password: str, salt: bytes, iterations: int) -> StoredKeys:
    """Kept: thousands of rounds of a hash take milliseconds, and each connection needs them."""
    salted = pbkdf2_hmac(digest, password.encode(), salt, iterations)
    client_key = _hmac(salted, b"Client Key", digest)
    stored_key = new(digest, client_key).digest()
    return StoredKeys(client_key, stored_key, _hmac(salted, b"Server Key", digest))


def _hmac(key: bytes, message: bytes, digest: str) -> bytes:
    return hmac.digest(key, message, digest)


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def _escaped(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def _text(message: bytes) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError as wrong:
        raise ScramError("a message is no text") from wrong


def _fields(text: str) -> dict[str, str]:
    """`r=abc,s=def` by letter; a value may hold `=`."""
    return {name: value for name, _, value in (part.partition("=") for part in text.split(","))}
