"""ApiVersions (key 18): which APIs and versions a broker speaks."""

from dataclasses import dataclass

from client.wire.api import Api


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersionsRequest:
    """Source: ApiVersionsRequest.json. Versions 0-2 carry nothing; 3 and later say who asks (KIP-511)."""

    client_software_name: str = ""
    client_software_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersion:
    """Source: ApiVersionsResponse.json. Both bounds are included."""

    api_key: int
    min_version: int
    max_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiVersionsResponse:
    """Source: ApiVersionsResponse.json. Its header is always version 0, so that every client can read it."""

    error_code: int = 0
    api_keys: tuple[ApiVersion, ...] = ()
    throttle_time_ms: int = 0


API_VERSIONS = Api(
    key=18,
    module="api_versions",
    request=ApiVersionsRequest,
    response=ApiVersionsResponse,
    versions=range(5),
    cacheable=True,
)
