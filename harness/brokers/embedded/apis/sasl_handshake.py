"""SaslHandshake, versions 0-1.

- Starts the exchange of a mechanism that the cluster offers; another one gets UNSUPPORTED_SASL_MECHANISM with those
  that it does, and the connection ends.
- Without SASL, and once the client is authenticated, it gets ILLEGAL_SASL_STATE.
"""

from client.wire import errors
from client.wire.apis.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest, SaslHandshakeResponse
from client.wire.messages import Request
from harness.brokers.embedded.handlers import handles
from harness.brokers.embedded.node import Node
from harness.brokers.embedded.sasl import Authentication


def _error_response(node: Node, request: Request, code: int) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(error_code=code)


@handles(SASL_HANDSHAKE, versions=range(2), error_response=_error_response, authenticates=True)
async def sasl_handshake(authentication: Authentication, request: Request) -> SaslHandshakeResponse:
    body: SaslHandshakeRequest = request.body
    if not authentication.can_begin:
        return SaslHandshakeResponse(error_code=errors.ILLEGAL_SASL_STATE)
    begun = authentication.begin(body.mechanism, bare=request.version == 0)
    code = errors.NONE if begun else errors.UNSUPPORTED_SASL_MECHANISM
    return SaslHandshakeResponse(error_code=code, mechanisms=authentication.mechanisms)
