"""What can go wrong on the network, sorted by phase. Profiles translate it into their client's own words."""

import errno
from enum import StrEnum


class Phase(StrEnum):
    """The step that failed."""

    RESOLVE = "resolve"
    CONNECT = "connect"
    HANDSHAKE = "handshake"
    """What a TLS handshake reads and writes fails as READ and WRITE: this is what it finds."""
    READ = "read"
    WRITE = "write"


class Cause(StrEnum):
    """Why it failed."""

    TIMEOUT = "timeout"
    """The client's own limit passed."""
    TIMED_OUT_BY_KERNEL = "timed_out_by_kernel"
    """The kernel gave up its retransmissions (ETIMEDOUT)."""
    NO_SUCH_HOST = "no_such_host"
    REFUSED = "refused"
    HOST_UNREACHABLE = "host_unreachable"
    NETWORK_UNREACHABLE = "network_unreachable"
    ADDRESS_NOT_AVAILABLE = "address_not_available"
    """Our own address, which the socket was to be bound to, is none of this machine's."""
    ADDRESS_IN_USE = "address_in_use"
    """Our own port is taken."""
    RESET = "reset"
    BROKEN_PIPE = "broken_pipe"
    EOF = "eof"
    """The peer closed before the first byte of a read."""
    UNEXPECTED_EOF = "unexpected_eof"
    """The peer closed in the middle of a read."""
    CLOSED = "closed"
    """We closed it ourselves."""
    CERTIFICATE_EXPIRED = "certificate_expired"
    CERTIFICATE_FOREIGN = "certificate_foreign"
    """Nobody who is trusted has signed it."""
    CERTIFICATE_NAME = "certificate_name"
    """It is another host's."""
    TLS_ALERT = "tls_alert"
    """The peer says that something is wrong."""
    NO_TLS = "no_tls"
    """What the peer sends is no TLS."""
    OTHER = "other"


_BY_ERRNO = {
    errno.ECONNREFUSED: Cause.REFUSED,
    errno.ETIMEDOUT: Cause.TIMED_OUT_BY_KERNEL,
    errno.EHOSTUNREACH: Cause.HOST_UNREACHABLE,
    errno.ENETUNREACH: Cause.NETWORK_UNREACHABLE,
    errno.EADDRNOTAVAIL: Cause.ADDRESS_NOT_AVAILABLE,
    errno.EADDRINUSE: Cause.ADDRESS_IN_USE,
    errno.ECONNRESET: Cause.RESET,
    errno.EPIPE: Cause.BROKEN_PIPE,
}


class NetError(Exception):
    """A network operation failed. `local` and `remote` are `host:port`; `local` is None while there is no socket."""

    def __init__(self, phase: Phase, cause: Cause, remote: str, local: str | None = None, detail: str = "") -> None:
        super().__init__(f"{phase} {remote}: {cause}" + (f" ({detail})" if detail else ""))
        self.phase = phase
        self.cause = cause
        self.remote = remote
        self.local = local
        self.detail = detail

    def again(self) -> "NetError":
        """The same error without the frames that this one was raised through, to be kept and raised later."""
        return NetError(self.phase, self.cause, self.remote, self.local, self.detail)


class ResolveError(NetError):
    """A name has no address."""

    def __init__(self, host: str) -> None:
        super().__init__(Phase.RESOLVE, Cause.NO_SUCH_HOST, host)


def from_os_error(phase: Phase, error: OSError, remote: str, local: str | None = None) -> NetError:
    """The kernel's error as ours."""
    cause = _BY_ERRNO.get(error.errno or 0, Cause.OTHER)
    return NetError(phase, cause, remote, local, error.strerror or str(error))
