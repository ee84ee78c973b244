"""ApiVersions, versions 0-4.

- Names every API that the broker speaks, with its versions: all that have a file here, unless its state says less.
- A version above 4 is answered in version 0 with error 35 (UNSUPPORTED_VERSION) and the versions of ApiVersions itself,
  so that the client can ask again (KIP-511). Brokers that do not speak version 3 name none, as before Kafka 2.4.
"""

from client.wire import errors
from client.wire.apis.api_versions import API_VERSIONS, ApiVersion, ApiVersionsResponse
from client.wire.messages import Request
from harness.brokers.embedded.handlers import handles, spoken_versions
from harness.brokers.embedded.node import Node

_NAMES_ITSELF = 3
"""The version that came with KIP-511."""


def _error_response(node: Node, request: Request, code: int) -> ApiVersionsResponse:
    return ApiVersionsResponse(error_code=code)


@handles(API_VERSIONS, versions=range(5), error_response=_error_response)
async def api_versions(node: Node, request: Request) -> ApiVersionsResponse:
    return ApiVersionsResponse(api_keys=_rows(node))


def unsupported_version(node: Node) -> ApiVersionsResponse:
    """The answer to an ApiVersions of an unknown version, to be encoded in version 0."""
    own = tuple(row for row in _rows(node) if row.api_key == API_VERSIONS.key and row.max_version >= _NAMES_ITSELF)
    return ApiVersionsResponse(error_code=errors.UNSUPPORTED_VERSION, api_keys=own)


def _rows(node: Node) -> tuple[ApiVersion, ...]:
    spoken = spoken_versions(node.api_versions)
    return tuple(ApiVersion(api_key=key, min_version=r[0], max_version=r[-1]) for key, r in spoken.items())
