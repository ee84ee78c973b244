"""Names to addresses without a thread: literal addresses, and a table of names."""

from collections.abc import Mapping
from ipaddress import ip_address

from client.net.errors import ResolveError

_LOOPBACK = {"localhost": ("127.0.0.1",)}


class TableResolver:
    """Knows literal addresses, `localhost` and the names handed in; every other name has no address."""

    def __init__(self, names: Mapping[str, tuple[str, ...]] = _LOOPBACK) -> None:
        self._names = dict(names)

    async def resolve(self, host: str) -> tuple[str, ...]:
        """Addresses in the order in which they are dialled. Raises ResolveError."""
        known = self._names.get(host)
        if known:
            return known
        try:
            literal = (str(ip_address(host)),)
        except ValueError:
            raise ResolveError(host) from None
        self._names[host] = literal
        return literal
