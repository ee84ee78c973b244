"""Network errors as Go prints them: `dial tcp 127.0.2.1:9092: i/o timeout`. Source: Go's net.OpError.Error."""

from client.net.errors import Cause, NetError, Phase

_TEXTS = {
    Cause.TIMEOUT: "i/o timeout",
    Cause.CLOSED: "use of closed network connection",
}
_CERTIFICATE_TEXTS = {
    Cause.CERTIFICATE_FOREIGN: "certificate signed by unknown authority",
    Cause.CERTIFICATE_EXPIRED: "certificate has expired or is not yet valid",
    Cause.CERTIFICATE_NAME: "certificate is not valid for the host",
}
"""As crypto/x509 says it, without the dates and names of the certificate, which OpenSSL does not tell."""
_ERRNO_TEXTS = {
    Cause.REFUSED: "connection refused",
    Cause.TIMED_OUT_BY_KERNEL: "connection timed out",
    Cause.HOST_UNREACHABLE: "no route to host",
    Cause.NETWORK_UNREACHABLE: "network is unreachable",
    Cause.RESET: "connection reset by peer",
    Cause.BROKEN_PIPE: "broken pipe",
}
_BIND_TEXTS = {
    Cause.ADDRESS_NOT_AVAILABLE: "cannot assign requested address",
    Cause.ADDRESS_IN_USE: "address already in use",
}
_SYSCALLS = {Phase.CONNECT: "connect", Phase.READ: "read", Phase.WRITE: "write"}
_OPERATIONS = {Phase.RESOLVE: "dial", Phase.CONNECT: "dial", Phase.READ: "read", Phase.WRITE: "write"}


def go_error_text(error: NetError) -> str:
    """The error in Go's words."""
    if error.cause is Cause.EOF:
        return "EOF"
    if error.cause is Cause.UNEXPECTED_EOF:
        return "unexpected EOF"
    if error.cause in _CERTIFICATE_TEXTS:
        return f"tls: failed to verify certificate: x509: {_CERTIFICATE_TEXTS[error.cause]}"
    if error.cause is Cause.NO_TLS:
        return "tls: first record does not look like a TLS handshake"
    if error.cause is Cause.TLS_ALERT:
        return f"remote error: tls: {error.detail}"
    if error.phase is Phase.RESOLVE:
        return f"dial tcp: {go_lookup_text(error)}"
    where = error.remote if error.local is None else f"{error.local}->{error.remote}"
    if error.cause in _BIND_TEXTS:
        reason = f"bind: {_BIND_TEXTS[error.cause]}"
    elif error.cause in _ERRNO_TEXTS:
        reason = f"{_SYSCALLS[error.phase]}: {_ERRNO_TEXTS[error.cause]}"
    else:
        reason = _TEXTS.get(error.cause, f"{_SYSCALLS[error.phase]}: {error.detail}")
    return f"{_OPERATIONS[error.phase]} tcp {where}: {reason}"


def go_lookup_text(error: NetError) -> str:
    """net.DNSError: of a look-up alone, without the dial that it was for."""
    reason = "no such host" if error.cause is Cause.NO_SUCH_HOST else _TEXTS.get(error.cause, error.detail)
    return f"lookup {error.remote}: {reason}"


def go_error_name(error: NetError) -> str:
    """The error's Go identifier."""
    if error.cause is Cause.EOF:
        return "io.EOF"
    if error.cause is Cause.UNEXPECTED_EOF:
        return "io.ErrUnexpectedEOF"
    if error.cause in _CERTIFICATE_TEXTS:
        return "tls.CertificateVerificationError"
    if error.cause is Cause.NO_TLS:
        return "tls.RecordHeaderError"
    return "net.OpError"
