"""kafka-go's errors: what they print, and what its Writer asks of them before it tries again.

Source: segmentio/kafka-go v0.4.8 and v0.4.50 error.go, protocol/error.go; Go's net, context and syscall packages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from client.errors import ClientError
from client.golang import go_error_name, go_error_text, go_lookup_text
from client.net.errors import Cause, NetError
from client.profiles.kafka_go.kerrors import KErrorEntry

TIMEOUT = "Timeout"
"""The class of every error whose Timeout() is true. Where a deadline ends a wait on a connection, the context's error
and the connection's own race, and the text is that of the winner."""

_KNOWN_BY_TYPE = ("protocol.Error",)
"""Classes that nothing but the error's Go type tells: wrapped, it has the wrapper's."""
_TRANSIENT = {Cause.REFUSED, Cause.RESET, Cause.BROKEN_PIPE}
_ENDED = {Cause.EOF, Cause.UNEXPECTED_EOF}
_TIMED_OUT = {Cause.TIMEOUT, Cause.TIMED_OUT_BY_KERNEL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Nature:
    """`temporary`: what Temporary() returns where the error has such a method, and errors.As finds it. `transient`:
    whether isTransientNetworkError knows it. `wrapped`: whether a type assertion still finds the method."""

    temporary: bool = False
    transient: bool = False
    wrapped: bool = False


class GoError(ClientError):
    """Any error of the library, as a value."""

    def __init__(self, name: str, text: str, nature: Nature = Nature()) -> None:
        super().__init__(name, text)
        self.nature = nature

    def wrap(self, prefix: str) -> "GoError":
        """fmt.Errorf("prefix: %w")."""
        nature = Nature(temporary=self.nature.temporary, transient=self.nature.transient, wrapped=True)
        return GoError("fmt.wrapError" if self.name in _KNOWN_BY_TYPE else self.name, f"{prefix}: {self.text}", nature)


def from_net_error(error: NetError) -> GoError:
    """A connection's error; an end of the stream in the middle of a response is unexpected (dontExpectEOF)."""
    return unexpected_eof() if error.cause in _ENDED else from_conn(error)


def unexpected_eof() -> GoError:
    """io.ErrUnexpectedEOF: the stream, or the response in it, ends before it should."""
    return GoError("io.ErrUnexpectedEOF", "unexpected EOF", Nature(transient=True))


def from_conn(error: NetError) -> GoError:
    """A connection's error as a Conn returns it: it peeks, so that any end of the stream is just an EOF."""
    if error.cause in _ENDED:
        return GoError("io.EOF", "EOF")
    timed_out = error.cause in _TIMED_OUT
    name = TIMEOUT if timed_out else go_error_name(error)
    return GoError(name, go_error_text(error), Nature(temporary=timed_out, transient=error.cause in _TRANSIENT))


def from_look_up(error: NetError) -> GoError:
    """A resolver's own error, without a dial around it."""
    timed_out = error.cause is Cause.TIMEOUT
    return GoError(TIMEOUT if timed_out else "net.DNSError", go_lookup_text(error), Nature(temporary=timed_out))


def from_context(text: str) -> GoError:
    """ctx.Err()."""
    expired = text == "context deadline exceeded"
    return GoError(TIMEOUT if expired else "context.Canceled", text, Nature(temporary=expired))


def no_topic(topic: str) -> GoError:
    return GoError("protocol.ErrNoTopic", f'topic not found (topic="{topic}")')


def no_partition(topic: str, partition: int) -> GoError:
    return GoError("protocol.ErrNoPartition", f'topic partition not found (topic="{topic}" partition={partition})')


def no_leader(topic: str, partition: int) -> GoError:
    return GoError("protocol.ErrNoLeader", f'topic partition has no leader (topic="{topic}" partition={partition})')


def no_matching_version(api_key: int) -> GoError:
    text = f"no matching versions were found between the client and the broker for API key {api_key}"
    return GoError("errors.errorString", text)


def no_progress() -> GoError:
    return GoError("errors.errorString", "multiple Read calls return no data or error")


def short_read() -> GoError:
    return GoError("errors.errorString", "not enough bytes available to load the response")


def closed_pipe() -> GoError:
    return GoError("io.ErrClosedPipe", "io: read/write on closed pipe")


class ErrorCatalog:
    """The errors of one release."""

    def __init__(self, kerrors: Mapping[int, KErrorEntry], *, lists_write_errors: bool) -> None:
        self._kerrors = kerrors
        self._lists_write_errors = lists_write_errors

    def kerror(self, code: int, message: str | None = None) -> GoError:
        """makeError: a broker's error code, with the broker's message where it sent one."""
        entry = self._kerrors.get(code, KErrorEntry("", "", temporary=False))
        name = entry.title.replace(" ", "") or "kafka.Error"
        text = f"[{code}] {entry.title}: {entry.description}"
        # RequestTimedOut has a Timeout(), too; its name comes first.
        error = GoError(name, text, Nature(temporary=entry.temporary))
        return (
            error
            if not message
            else GoError(name, f"{text}: {message}", Nature(temporary=entry.temporary, wrapped=True))
        )

    def write_errors(self, errors: Sequence[GoError | None]) -> GoError:
        """WriteErrors: an error for each message. Its name is that of the first."""
        failed = [error for error in errors if error is not None]
        count = f"({len(failed)}/{len(errors)})"
        if self._lists_write_errors:
            texts = " ".join(error.text for error in failed)
            return GoError(failed[0].name, f"Kafka write errors {count}, errors: [{texts}]")
        return GoError(failed[0].name, f"kafka write errors {count}")

    def message_too_large(self) -> GoError:
        return GoError("MessageTooLargeError", self.kerror(10).text)
