"""Which host and port an address means, before anything is dialled.

Source: segmentio/kafka-go v0.4.8 and v0.4.50 dialer.go (splitHostPort, lookupHost), resolver.go.

A Resolver is an interface in Go. As a setting it is a text: the hosts that it returns, whatever it is asked for, with
spaces between them; `none` returns nothing, `fails` an error, `system` asks the machine's resolver.
"""

from ipaddress import ip_address

from client.golang import resolve_within
from client.net.errors import NetError, ResolveError
from client.net.tcp import Address
from client.profiles.kafka_go.errors import GoError, from_look_up
from client.profiles.kafka_go.releases import Release
from client.runtime import Resolver
from client.settings import SettingValue

NO_HOST, FAILS, SYSTEM = "none", "fails", "system"
_DEFAULT_PORT = "9092"


def check_resolver(value: SettingValue) -> str | None:
    """What is wrong with a Resolver's text, None where nothing is."""
    words = str(value).split()
    alone = {NO_HOST, FAILS, SYSTEM} & set(words)
    if alone and len(words) > 1:
        return f"Dialer.Resolver is `{min(alone)}` or the hosts that it returns, not both"
    return None


def check_local_address(value: SettingValue) -> str | None:
    """What is wrong with a LocalAddr's text, None where nothing is."""
    if value in ("", None):
        return None
    try:
        parse_local_address(str(value))
    except ValueError:
        return f"Dialer.LocalAddr is an IP address such as 127.0.0.9 or 127.0.0.9:40000, not {value}"
    return None


def parse_local_address(text: str) -> Address | None:
    """Address and port, 0 for any; None where the kernel chooses. Raises ValueError."""
    if not text:
        return None
    host, colon, port = text.partition(":")
    return str(ip_address(host)), int(port) if colon else 0


def split_host_port(text: str, release: Release) -> tuple[str, str]:
    """splitHostPort: an address without a port is a host; the newer release gives it the default one here."""
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if not colon or (":" in host and not bracketed):
        return text, _DEFAULT_PORT if release.fills_in_ports_first else ""
    return host[1:-1] if bracketed else host, port


async def lookup_host(
    address: str, resolver: str, system: Resolver, release: Release, *, deadline_at: float | None
) -> Address:
    """lookupHost: of what the Resolver returns the first host counts, and its port where the address has none.

    `deadline_at` is the context's, a moment of the loop's clock. Raises GoError.
    """
    host, port = split_host_port(address, release)
    resolved = await _resolved(host, resolver, system, release, deadline_at)
    if resolved is not None:
        host, resolved_port = split_host_port(resolved, release)
        port = port or resolved_port
    if not release.fills_in_ports_first:
        port = port or _DEFAULT_PORT
    if not (port or "0").isdecimal():
        raise GoError("net.OpError", f"dial tcp: lookup tcp/{port}: unknown port")
    return host, int(port or 0)


async def _resolved(
    host: str, resolver: str, system: Resolver, release: Release, deadline_at: float | None
) -> str | None:
    """The host to dial instead, None where the Resolver names none. Raises GoError."""
    if resolver in ("", NO_HOST):
        return None
    if resolver == SYSTEM:
        try:
            return (await resolve_within(system, host, deadline_at))[0]
        except NetError as error:
            raise _wrapped(from_look_up(error), host, release) from error
    if resolver == FAILS:
        raise _wrapped(from_look_up(ResolveError(host)), host, release)
    return resolver.split()[0]


def _wrapped(failed: GoError, host: str, release: Release) -> GoError:
    return failed.wrap(f"failed to resolve host {host}") if release.wraps_dial_errors else failed
