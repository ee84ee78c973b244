"""SaslAuthenticate, versions 0-2.

- Answers one message of the mechanism that SaslHandshake v1 has started.
- A client that is not who it says gets SASL_AUTHENTICATION_FAILED, and the connection ends.
- Without SASL, and once the client is authenticated, it gets ILLEGAL_SASL_STATE.
"""

from client.wire import errors
from client.wire.apis.sasl_authenticate import (
    SASL_AUTHENTICATE,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from client.wire.messages import Request
from harness.brokers.embedded.handlers import handles
from harness.brokers.embedded.node import Node
from harness.brokers.embedded.sasl import Authentication, Refused


def _error_response(node: Node, request: Request, code: int) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(error_code=code, error_message=errors.error_of(code).name)


@handles(SASL_AUTHENTICATE, versions=range(3), error_response=_error_response, authenticates=True)
async def sasl_authenticate(authentication: Authentication, request: Request) -> SaslAuthenticateResponse:
    body: SaslAuthenticateRequest = request.body
    if not authentication.is_exchanging:
        return SaslAuthenticateResponse(error_code=errors.ILLEGAL_SASL_STATE, error_message="no exchange has begun")
    try:
        return SaslAuthenticateResponse(auth_bytes=authentication.step(body.auth_bytes))
    except Refused as refused:
        return SaslAuthenticateResponse(error_code=errors.SASL_AUTHENTICATION_FAILED, error_message=str(refused))
