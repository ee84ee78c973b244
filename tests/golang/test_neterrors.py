"""Protects the error texts that users search for: Go's own wording of every network error."""

import pytest

from client.golang import go_error_name, go_error_text
from client.net.errors import Cause, NetError, Phase, ResolveError

A, B = "127.0.0.1:40000", "127.0.2.1:9092"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NetError(Phase.CONNECT, Cause.TIMEOUT, B), "dial tcp 127.0.2.1:9092: i/o timeout"),
        (NetError(Phase.CONNECT, Cause.REFUSED, B), "dial tcp 127.0.2.1:9092: connect: connection refused"),
        (NetError(Phase.CONNECT, Cause.HOST_UNREACHABLE, B), "dial tcp 127.0.2.1:9092: connect: no route to host"),
        (
            NetError(Phase.CONNECT, Cause.TIMED_OUT_BY_KERNEL, B),
            "dial tcp 127.0.2.1:9092: connect: connection timed out",
        ),
        (ResolveError("kafka.example"), "dial tcp: lookup kafka.example: no such host"),
        (NetError(Phase.READ, Cause.TIMEOUT, B, A), "read tcp 127.0.0.1:40000->127.0.2.1:9092: i/o timeout"),
        (
            NetError(Phase.READ, Cause.RESET, B, A),
            "read tcp 127.0.0.1:40000->127.0.2.1:9092: read: connection reset by peer",
        ),
        (NetError(Phase.WRITE, Cause.BROKEN_PIPE, B, A), f"write tcp {A}->{B}: write: broken pipe"),
        (NetError(Phase.READ, Cause.CLOSED, B, A), f"read tcp {A}->{B}: use of closed network connection"),
        (NetError(Phase.READ, Cause.EOF, B, A), "EOF"),
        (NetError(Phase.READ, Cause.UNEXPECTED_EOF, B, A), "unexpected EOF"),
    ],
)  # fmt: skip
def test_texts_are_gos(error: NetError, text: str) -> None:
    assert go_error_text(error) == text
    assert go_error_name(error) == {"EOF": "io.EOF", "unexpected EOF": "io.ErrUnexpectedEOF"}.get(text, "net.OpError")


def test_every_cause_has_a_text() -> None:
    for cause in Cause:
        for phase in (Phase.CONNECT, Phase.READ, Phase.WRITE):
            assert go_error_text(NetError(phase, cause, B, A, "detail"))
