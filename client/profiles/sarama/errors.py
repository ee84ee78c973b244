"""Sarama's errors: Go identifiers and texts as users search for them, by release.

Source: Shopify/sarama v1.27.2 errors.go, IBM/sarama v1.60.1 errors.go, metadata.go.
"""

from collections.abc import Iterable, Mapping, Sequence

from client.errors import ClientError
from client.golang import go_error_name, go_error_text
from client.net.errors import Cause, NetError
from client.profiles.sarama.kerrors import CODES, KERRORS_1_27, KERRORS_1_60, KErrorEntry

_SENTINELS = {
    "ErrOutOfBrokers": "kafka: client has run out of available brokers to talk to (Is your cluster reachable?)",
    "ErrClosedClient": "kafka: tried to use a client that was closed",
    "ErrIncompleteResponse": "kafka: response did not contain all the expected topic/partition blocks",
    "ErrInvalidPartition": "kafka: partitioner returned an invalid partition index",
    "ErrNotConnected": "kafka: broker not connected",
    "ErrShuttingDown": "kafka: message received by producer in process of shutting down",
    "ErrNoTopicsToUpdateMetadata": "kafka: no specific topics to update metadata",
}
_SENTINELS_1_60 = {
    "ErrOutOfBrokers": "kafka: client has run out of available brokers to talk to",
    "ErrProducerRetryBufferOverflow": "retry buffer full: message discarded to prevent buffer overflow",
}


class KError(ClientError):
    """An error that a broker answered."""

    def __init__(self, code: int, name: str, text: str) -> None:
        super().__init__(name, text)
        self.code = code


class NetworkError(ClientError):
    """A network error, which Sarama hands on as Go gave it. `closes_connection` is what shouldCloseBrokerConn says: not
    for what net.Error.Timeout() calls a time-out, nor for what is no net.Error, as what a TLS handshake finds."""

    def __init__(self, error: NetError) -> None:
        super().__init__(go_error_name(error), go_error_text(error))
        self.closes_connection = error.cause not in _KEEPING_THE_CONNECTION


_KEEPING_THE_CONNECTION = frozenset(
    {
        Cause.TIMEOUT, Cause.TIMED_OUT_BY_KERNEL, Cause.NO_TLS,
        Cause.CERTIFICATE_EXPIRED, Cause.CERTIFICATE_FOREIGN, Cause.CERTIFICATE_NAME,
    }
)  # fmt: skip


class TopicErrors(ClientError):
    """The errors of a metadata refresh by topic; errors.Is finds each of them. Source: metadata.go (refreshError)."""

    def __init__(self, by_topic: Mapping[str, KError]) -> None:
        errors = [(topic, by_topic[topic]) for topic in sorted(by_topic)]
        super().__init__(errors[0][1].name, "\n".join(f"{topic}: {error.text}" for topic, error in errors))
        self.by_topic = by_topic

    def for_topics(self, topics: Sequence[str]) -> "TopicErrors | None":
        """The errors of these topics, of all where none is given; None where there are none."""
        kept = {topic: error for topic, error in self.by_topic.items() if not topics or topic in topics}
        return TopicErrors(kept) if kept else None


class PacketEncodingError(ClientError):
    """A request that cannot be encoded: it is never sent and never retried."""

    def __init__(self, info: str) -> None:
        super().__init__("PacketEncodingError", f"kafka: error encoding packet: {info}")


class PacketDecodingError(ClientError):
    """A response that is malformed."""

    def __init__(self, info: str) -> None:
        super().__init__("PacketDecodingError", f"kafka: error decoding packet: {info}")


class InsufficientData(ClientError):
    """A response that ends before what it announces."""

    def __init__(self) -> None:
        text = "kafka: insufficient data to decode packet, more bytes expected"
        super().__init__("ErrInsufficientData", text)


class ConfigurationError(ClientError):
    """A configuration that Validate refuses."""

    def __init__(self, info: str) -> None:
        super().__init__("ConfigurationError", f"kafka: invalid configuration ({info})")


class GoPanic(ClientError):
    """A panic: it ends the real program unless its caller recovers."""

    def __init__(self, text: str) -> None:
        super().__init__("runtime.Error", f"runtime error: {text}")


class ErrorCatalog:
    """The error values of one release."""

    def __init__(self, sentinels: Mapping[str, str], kerrors: Mapping[int, KErrorEntry]) -> None:
        self._sentinels = sentinels
        self._kerrors = kerrors

    def sentinel(self, name: str, wrapped: Iterable[ClientError] = ()) -> ClientError:
        """One of Sarama's error values by its identifier, around others where there are some (Wrap)."""
        inner = "\n".join(error.text for error in wrapped)
        text = self._sentinels[name]
        return ClientError(name, f"{text}: {inner}" if inner else text)

    def kerror(self, name: str) -> KError:
        """A broker's error by its identifier."""
        return self.kerror_from_code(CODES[name])

    def kerror_from_code(self, code: int) -> KError:
        """A broker's error by its code."""
        unknown = ("KError", f"Unknown error, how did this happen? Error code = {code}")
        return KError(code, *self._kerrors.get(code, unknown))


ERRORS_1_27 = ErrorCatalog(_SENTINELS, KERRORS_1_27)
ERRORS_1_60 = ErrorCatalog({**_SENTINELS, **_SENTINELS_1_60}, KERRORS_1_60)


def is_kerror(error: ClientError, codes: frozenset[int]) -> bool:
    """errors.Is(error, code) for one of the codes."""
    if isinstance(error, TopicErrors):
        return any(one.code in codes for one in error.by_topic.values())
    return isinstance(error, KError) and error.code in codes
