"""Version negotiation: which versions of an API a broker speaks, and the highest that both sides know.

The ApiVersions request itself has a version: a broker that does not know it answers error 35 in the form of version 0,
and is asked again. Source: KIP-35, KIP-511.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from client.wire.apis.api_versions import API_VERSIONS, ApiVersionsResponse
from client.wire.errors import NONE, UNSUPPORTED_VERSION


class NoCommonVersionError(Exception):
    """The broker refuses the request at every version, or shares no version of an API with the client."""


@dataclass(frozen=True, slots=True)
class ApiVersionRanges:
    """Lowest and highest version of each API that a broker speaks, by API key."""

    ranges: Mapping[int, tuple[int, int]]

    def choose(self, api_key: int, *, lowest: int, highest: int) -> int:
        """The highest version that both know. Raises NoCommonVersionError."""
        theirs = self.ranges.get(api_key)
        if theirs is None:
            raise NoCommonVersionError(f"the broker has no API {api_key}")
        chosen = min(highest, theirs[1])
        if chosen < max(lowest, theirs[0]):
            raise NoCommonVersionError(
                f"API {api_key}: the broker speaks {theirs[0]} to {theirs[1]}, we {lowest} to {highest}"
            )
        return chosen


async def negotiate(ask: Callable[[int], Awaitable[ApiVersionsResponse]], *, highest: int) -> ApiVersionRanges:
    """Ask with version `highest`; after error 35 once more, with the highest version that the answer allows, else 0.

    `ask` sends an ApiVersions request of the version given and returns its decoded answer. Raises NoCommonVersionError
    where the second answer is an error too, or the first one is another error.
    """
    answer = await ask(highest)
    if answer.error_code == UNSUPPORTED_VERSION and highest > 0:
        theirs = [r.max_version for r in answer.api_keys if r.api_key == API_VERSIONS.key]
        answer = await ask(min(theirs[0], highest - 1) if theirs else 0)
    if answer.error_code != NONE:
        raise NoCommonVersionError(f"the broker answers ApiVersions with error {answer.error_code}")
    return ApiVersionRanges({r.api_key: (r.min_version, r.max_version) for r in answer.api_keys})
