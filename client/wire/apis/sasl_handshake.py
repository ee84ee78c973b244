"""SaslHandshake (key 17): which mechanism a client wants to authenticate by (KIP-43)."""

from dataclasses import dataclass

from client.wire.api import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslHandshakeRequest:
    """Source: SaslHandshakeRequest.json. After version 0 the mechanism's messages follow bare, each behind its length;
    after version 1 in SaslAuthenticate requests (KIP-152)."""

    mechanism: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslHandshakeResponse:
    """Source: SaslHandshakeResponse.json. `mechanisms` are those that the broker knows."""

    error_code: int = 0
    mechanisms: tuple[str, ...] = ()


SASL_HANDSHAKE = Api(
    key=17, module="sasl_handshake", request=SaslHandshakeRequest, response=SaslHandshakeResponse, versions=range(2)
)
