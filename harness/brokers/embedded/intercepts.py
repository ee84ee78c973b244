"""Requests that a broker does not answer normally; each one is counted.

An `Intercept` in force takes the requests of its API: all of them, or the nth since it came into force. What it does
with one is its answer. Those in force see a request one after another; the first that does more than delay it has it,
and later ones neither see nor count it. So delays add up.
"""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, get_args

from client.wire.apis.produce import ProduceRequest
from client.wire.errors import ERRORS_BY_NAME
from client.wire.messages import Request
from harness.levers import ErrorAnswer, HeldBack, Intercept, InterceptResponse, OrdinaryAnswer, is_request

EVERY_API = "all"

PROBE_CLIENT_ID = "faultlab-probe"
"""What the lab's own requests have as their client id."""

_ANSWERS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(InterceptResponse)}


@dataclass(frozen=True, slots=True)
class Arrival:
    """What an intercept may take: a request, a bare message of a SASL mechanism, or the hello of a TLS handshake, which
    say nothing of their client; or an acknowledgement that waits for a replica. `api`, `capped` and `partitions` are as
    in Intercept."""

    api: str
    client_id: str | None = None
    transactional_id: str | None = None
    capped: bool = False
    partitions: tuple[str, ...] = ()

    @classmethod
    def of(cls, request: Request, *, capped: bool = False) -> "Arrival":
        body = request.body
        topics = body.topic_data if isinstance(body, ProduceRequest) else ()
        partitions = tuple(f"{topic.name}/{one.index}" for topic in topics for one in topic.partition_data)
        transactional_id = getattr(body, "transactional_id", None)
        return cls(request.api.module, request.client_id, transactional_id, capped, partitions)


class InstalledIntercept:
    """An intercept in force. `released` is set once it is not; `count` says how many requests it has taken.

    `seen`: how many it had to choose from before, in a process of the broker that was killed.
    """

    def __init__(self, number: int, intercept: Intercept, seen: int = 0) -> None:
        self.number = number
        self.intercept = intercept
        self.released = asyncio.Event()
        self.count = 0
        self._seen = 0
        self._chance = Random(f"{intercept.seed}/{intercept.broker}")
        for _ in range(seen):
            self._choose()

    @property
    def answer(self) -> InterceptResponse:
        return self.intercept.answer

    @property
    def chooses(self) -> bool:
        """Whether it leaves some requests of its kind alone."""
        return self.intercept.nth is not None or self.intercept.chance < 1.0

    def concerns(self, arrival: Arrival) -> bool:
        """Whether it is of its kind."""
        if self.intercept.api != arrival.api and (self.intercept.api != EVERY_API or not is_request(arrival.api)):
            return False
        if self.intercept.capped and not arrival.capped:
            return False
        if self.intercept.partitions and not set(self.intercept.partitions) & set(arrival.partitions):
            return False
        if self.intercept.client_id not in (None, arrival.client_id):
            return False
        return self.intercept.transactional_id in (None, arrival.transactional_id)

    def take(self) -> bool:
        """Whether it takes the next one of its kind; counts it if so."""
        taken = self._choose()
        self.count += taken
        return taken

    def _choose(self) -> bool:
        self._seen += 1
        if self.intercept.nth not in (None, self._seen):
            return False
        return self.intercept.chance >= 1.0 or self._chance.random() < self.intercept.chance


class Intercepts:
    """Those in force at one broker, by the numbers that their owner gave them.

    `on_intercepted` is called for each request that one of them takes: with its number, and the moment on the loop's
    clock in nanoseconds, None for a request of the lab's own. `on_seen` is called for each request that one of them
    may take that chooses: with its number.
    """

    def __init__(
        self,
        on_intercepted: Callable[[int, int | None], None] | None = None,
        on_seen: Callable[[int], None] | None = None,
    ) -> None:
        self._installed: dict[int, InstalledIntercept] = {}
        self._on_intercepted = on_intercepted
        self._on_seen = on_seen

    def add(self, number: int, intercept: Intercept, seen: int = 0) -> None:
        """`seen` is as in InstalledIntercept."""
        self._installed[number] = InstalledIntercept(number, intercept, seen)

    def release(self, number: int) -> None:
        """Take it out of force; answers that it holds back go out now. Nothing happens where it is not in force."""
        found = self._installed.pop(number, None)
        if found is not None:
            found.released.set()

    def find_match(self, arrival: Arrival, *, behind: int = -1) -> InstalledIntercept | None:
        """The first that takes this, None where no other does.

        `behind`: the number of the one that has let the request pass; those before it have seen it already.
        """
        for number, one in tuple(self._installed.items()):
            if number <= behind or (arrival.client_id == PROBE_CLIENT_ID and isinstance(one.answer, HeldBack)):
                continue
            if not one.concerns(arrival):
                continue
            if self._on_seen is not None and one.chooses:
                self._on_seen(number)
            if one.take():
                self._report(number, arrival)
                if not isinstance(one.answer, OrdinaryAnswer):
                    return one
        return None

    def count_refused(self, arrival: Arrival) -> None:
        """A request that is refused for its version shows the cap of versions, and nothing else: no other intercept
        can have it."""
        for number, one in tuple(self._installed.items()):
            if one.intercept.capped and one.concerns(arrival) and one.take():
                self._report(number, arrival)

    def _report(self, number: int, arrival: Arrival) -> None:
        if self._on_intercepted is not None:
            at_ns = None if arrival.client_id == PROBE_CLIENT_ID else round(asyncio.get_running_loop().time() * 1e9)
            self._on_intercepted(number, at_ns)


def code_of(answer: ErrorAnswer) -> int:
    """The number of the error. Raises KeyError for a name that Kafka does not have."""
    return ERRORS_BY_NAME[answer.error].code


NO_ERROR = next(name for name, error in ERRORS_BY_NAME.items() if error.code == 0)


def error_names() -> tuple[str, ...]:
    """Kafka's names of the errors that an answer can have."""
    return tuple(name for name in ERRORS_BY_NAME if name != NO_ERROR)


def encode_intercept(intercept: Intercept) -> dict[str, object]:
    """What `decode_intercept` reads, made of what JSON has."""
    return {**asdict(intercept), "answer": [type(intercept.answer).__name__, asdict(intercept.answer)]}


def decode_intercept(raw: dict[str, object]) -> Intercept:
    kind, fields = raw["answer"]  # type: ignore[misc]
    partitions: tuple[str, ...] = tuple(raw["partitions"])  # type: ignore[arg-type]
    return Intercept(**{**raw, "answer": _ANSWERS[kind](**fields), "partitions": partitions})  # type: ignore[has-type]
