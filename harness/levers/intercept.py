"""Requests that a broker meets with something else than their answer."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from harness.levers.base import BrokerLever, Evidence, lever, quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestsIntercepted(Evidence):
    """`requests` met something else than their ordinary answer."""

    name: ClassVar[str] = "requests_intercepted"
    meaning: ClassVar[str] = "requests were intercepted"

    requests: int = 0

    def sentence(self) -> str:
        return f"intercepted {quantity(self.amount, 'request')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandshakesIntercepted(Evidence):
    """`handshakes` met something else than the broker's certificate and its keys."""

    name: ClassVar[str] = "handshakes_intercepted"
    meaning: ClassVar[str] = "TLS handshakes were intercepted"

    handshakes: int = 0

    def sentence(self) -> str:
        return f"intercepted {quantity(self.amount, 'TLS handshake')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """The request is read and not carried out. Nothing more is answered on its connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayedResponse:
    """The request is carried out at once and answered `seconds` later. Later requests on its connection wait, too."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer:
    """The request is not carried out and is answered with an error, by Kafka's name: `NOT_LEADER_OR_FOLLOWER`."""

    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdinaryAnswer:
    """The request is answered as usual, and counted; another intercept may take it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LateHandling:
    """The request waits `seconds` before it is carried out. Later requests on its connection wait, too."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongCorrelation:
    """The request is carried out and answered under the correlation id of another request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBack:
    """The request waits until the lever is undone, and is then met as if it had come then. Not for the lab's own."""


FrameDamage = Literal["negative_size", "huge_size", "zero_size", "cut", "garbage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DamagedFrame:
    """The request is carried out, and what is sent back is no response: the connection is then closed.

    `negative_size`, `huge_size`, `zero_size`: the response with another length before it; `cut`: its first half;
    `garbage`: as many other bytes with the right length before them.
    """

    damage: FrameDamage


CertificateFlaw = Literal["expired", "foreign", "wrong_name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlawedCertificate:
    """A TLS handshake is made with a certificate that no careful client takes: its time is over, nobody who is trusted
    has signed it, or it is another host's."""

    flaw: CertificateFlaw


@dataclass(frozen=True, slots=True, kw_only=True)
class HangUp:
    """The connection is closed in place of an answer."""


InterceptResponse = (
    Silence | DelayedResponse | ErrorAnswer | OrdinaryAnswer | LateHandling | WrongCorrelation | DamagedFrame
    | HeldBack | FlawedCertificate | HangUp
)  # fmt: skip

TLS_HANDSHAKE = "tls_handshake"
"""What an Intercept of TLS handshakes has as its `api`: it takes one once the client's hello has come."""
_WAITING_FOR = "waiting_for_replica_"


def waiting_for(replica: int) -> str:
    """What an Intercept has as its `api` that takes messages in the leader's log whose acknowledgement has to wait for
    this replica."""
    return f"{_WAITING_FOR}{replica}"


def is_request(api: str) -> bool:
    """Whether an Intercept's `api` means requests."""
    return api != TLS_HANDSHAKE and not api.startswith(_WAITING_FOR)


@lever("intercept")
@dataclass(frozen=True, slots=True, kw_only=True)
class Intercept(BrokerLever):
    """Have one broker meet requests with something else than their answer.

    `api` is the request's name as in `list_offsets`, or `all` requests; or TLS_HANDSHAKE, or `waiting_for(...)`. `nth`
    counts such requests from 1, since the lever was pulled; None: each of them. `chance` is how likely one of them is
    taken, drawn from `seed`. `client_id` and `transactional_id` take only requests that carry these; None: all.
    `capped` takes only those that show a cap of the broker's versions: it refuses them for their version, or is asked
    for its versions. With an OrdinaryAnswer alone: what is refused can be counted, but not answered. `partitions`, such
    as `orders/0`, take only requests that write to one of them; none: all.

    Evidence: RequestsIntercepted, of TLS handshakes HandshakesIntercepted.
    """

    answer: InterceptResponse
    api: str = "all"
    nth: int | None = None
    chance: float = 1.0
    seed: str = ""
    client_id: str | None = None
    transactional_id: str | None = None
    capped: bool = False
    partitions: tuple[str, ...] = ()

    @property
    def lasts(self) -> bool:
        return isinstance(self.answer, Silence | DamagedFrame | WrongCorrelation)

    def found(self, count: int) -> Evidence:
        """So many as evidence."""
        if self.api == TLS_HANDSHAKE:
            return HandshakesIntercepted(handshakes=count)
        return RequestsIntercepted(requests=count)
