"""ApiVersions, versions 0-4.

- Names every API that has a file here, with the versions that the file speaks.
- A version above 4 is answered in version 0 with error 35 (UNSUPPORTED_VERSION) and the versions of ApiVersions itself,
  so that the client can ask again (KIP-511).
"""

from client.wire import errors
from client.wire.apis.api_versions import API_VERSIONS, ApiVersion, ApiVersionsResponse
from client.wire.messages import Request
from harness.brokers.embedded.handlers import Handler, handlers, handles
from harness.brokers.embedded.node import Node


def _error_response(node: Node, request: Request, code: int) -> ApiVersionsResponse:
    return ApiVersionsResponse(error_code=code)


@handles(API_VERSIONS, versions=range(5), error_response=_error_response)
async def api_versions(node: Node, request: Request) -> ApiVersionsResponse:
    return ApiVersionsResponse(api_keys=tuple(_row(h) for h in handlers().values()))


def unsupported_version() -> ApiVersionsResponse:
    """The answer to an ApiVersions of an unknown version, to be encoded in version 0."""
    return ApiVersionsResponse(error_code=errors.UNSUPPORTED_VERSION, api_keys=(_row(api_versions),))


def _row(handler: Handler) -> ApiVersion:
    return ApiVersion(api_key=handler.api.key, min_version=handler.versions[0], max_version=handler.versions[-1])
