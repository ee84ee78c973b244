"""Names to addresses without a thread: literal addresses, and a table of names."""

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address

from client.net.errors import ResolveError

_LOOPBACK = {"localhost": ("127.0.0.1",)}


class TableResolver:
    """Knows literal addresses, `localhost` and the names that it is given; every other name has no address."""

    def __init__(self, names: Mapping[str, tuple[str, ...]] = _LOOPBACK) -> None:
        self._names = dict(names)

    async def resolve(self, host: str) -> tuple[str, ...]:
        """Addresses in the order in which they are dialled. Raises ResolveError."""
        known = self._names.get(host)
        if known:
            return known
        literal = literal_address(host)
        if literal is None:
            raise ResolveError(host)
        return literal


@lru_cache(maxsize=1024)
def literal_address(host: str) -> tuple[str, ...] | None:
    """What an address itself resolves to; None for a name."""
    try:
        return (str(ip_address(host)),)
    except ValueError:
        return None
