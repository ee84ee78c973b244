"""SaslAuthenticate (key 36): one message of a SASL mechanism, and the broker's answer to it (KIP-152)."""

from dataclasses import dataclass, field

from client.wire.api import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslAuthenticateRequest:
    """Source: SaslAuthenticateRequest.json. The bytes may hold a password: no repr shows them."""

    auth_bytes: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslAuthenticateResponse:
    """Source: SaslAuthenticateResponse.json. `session_lifetime_ms` 0: the client never has to do it again."""

    error_code: int = 0
    error_message: str | None = None
    auth_bytes: bytes = field(default=b"", repr=False)
    session_lifetime_ms: int = 0


SASL_AUTHENTICATE = Api(
    key=36,
    module="sasl_authenticate",
    request=SaslAuthenticateRequest,
    response=SaslAuthenticateResponse,
    versions=range(3),
)
