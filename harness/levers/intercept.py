"""Requests that a broker meets with something else than their answer."""

from dataclasses import dataclass
from typing import ClassVar

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


InterceptResponse = Silence | DelayedResponse | ErrorAnswer


@lever("intercept")
@dataclass(frozen=True, slots=True, kw_only=True)
class Intercept(BrokerLever):
    """Have one broker meet requests with something else than their answer.

    `api` is the request's name as in `list_offsets`, or `all`. `nth` counts such requests from 1, since the lever was
    pulled; None: each of them.

    Evidence: RequestsIntercepted.
    """

    answer: InterceptResponse
    api: str = "all"
    nth: int | None = None

    @property
    def lasts(self) -> bool:
        return isinstance(self.answer, Silence)
