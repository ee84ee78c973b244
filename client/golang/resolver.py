"""Go's own resolver: what of a name's addresses a program gets, in which order, and after how long none.

It is used where a program is built without cgo, and reads /etc/hosts and /etc/resolv.conf. Here: a name server, no
search list, and the options that nobody has changed. Source: Go's net/dnsclient_unix.go (goLookupIPCNAMEOrder,
tryOneName), dnsconfig_unix.go, addrselect.go.
"""

import asyncio
from collections.abc import Sequence
from ipaddress import IPv6Address, ip_address, ip_network
from random import Random

from client.net.dns import Answer, Question, RecordKind, ResponseCode, ask
from client.net.errors import Cause, NetError, Phase, ResolveError
from client.net.resolver import TableResolver, literal_address
from client.net.tcp import Address
from client.runtime import Resolver

_TIMEOUT_S = 5.0
"""How long one question is waited for (`options timeout:`)."""
_ATTEMPTS = 2
"""How often a question is asked (`options attempts:`)."""

_PRECEDENCE = [
    (ip_network(network), precedence)
    for network, precedence in (
        ("::1/128", 50), ("::ffff:0:0/96", 35), ("2002::/16", 30), ("2001::/32", 5), ("fc00::/7", 3), ("::/0", 40),
    )
]  # fmt: skip
"""RFC 6724, 2.1: the first network that has an address counts, the higher number is dialled first."""


class GoResolver:
    """`client.runtime.Resolver` by the rules of Go. Nothing is kept: each look-up asks anew."""

    def __init__(self, name_server: Address, rng: Random) -> None:
        self._name_server = name_server
        self._rng = rng
        self._literal = TableResolver()

    async def resolve(self, host: str) -> tuple[str, ...]:
        """Addresses in the order in which Go dials them. Raises NetError in phase RESOLVE: ResolveError where there are
        none, TIMEOUT where the server has not answered."""
        try:
            return await self._literal.resolve(host)
        except ResolveError:
            return await self._asked(host)

    async def _asked(self, host: str) -> tuple[str, ...]:
        """Both families at once, and both are waited for."""
        answers = await asyncio.gather(*(self._try_one_name(host, kind) for kind in RecordKind))
        found = [address for answer in answers if isinstance(answer, Answer) for address in answer.addresses]
        if found:
            return _in_order(found)
        no_address = ResolveError(self._asked_for(host))
        raise next((answer for answer in answers if isinstance(answer, NetError)), no_address)

    async def _try_one_name(self, host: str, kind: RecordKind) -> Answer | NetError:
        failed: NetError = ResolveError(host)
        for _ in range(_ATTEMPTS):
            question = Question(self._rng.getrandbits(16), host, kind)
            try:
                answer = await ask(self._name_server, question, timeout_s=_TIMEOUT_S)
            except ValueError:
                return ResolveError(host)
            except TimeoutError:
                failed = NetError(Phase.RESOLVE, Cause.TIMEOUT, host)
            except OSError as error:
                failed = NetError(Phase.RESOLVE, Cause.OTHER, host, detail=error.strerror or str(error))
            else:
                if answer.code in (ResponseCode.NO_ERROR, ResponseCode.NO_SUCH_NAME):
                    return answer
                failed = NetError(Phase.RESOLVE, Cause.OTHER, self._asked_for(host), detail="server misbehaving")
        return failed

    def _asked_for(self, host: str) -> str:
        """As net.DNSError says where an answer came from."""
        return "{} on {}:{}".format(host, *self._name_server)


async def resolve_within(resolver: Resolver, host: str, deadline_at: float | None) -> tuple[str, ...]:
    """A look-up that ends with the dial it is made for, at a moment of the loop's clock. Raises NetError."""
    literal = literal_address(host)
    if literal is not None:
        return literal  # at once: most dials are to addresses, and a time limit takes longer than they do
    try:
        async with asyncio.timeout_at(deadline_at):
            return await resolver.resolve(host)
    except TimeoutError as passed:
        raise NetError(Phase.RESOLVE, Cause.TIMEOUT, host) from passed


def _in_order(addresses: Sequence[str]) -> tuple[str, ...]:
    """RFC 6724's order where each address has a route, a label and a scope that match its source's: by precedence, and
    as the server has given them."""
    return tuple(sorted(addresses, key=_precedence, reverse=True))


def _precedence(address: str) -> int:
    ip = ip_address(address)
    as_v6 = ip if isinstance(ip, IPv6Address) else IPv6Address(f"::ffff:{address}")
    return next(precedence for network, precedence in _PRECEDENCE if as_v6 in network)
