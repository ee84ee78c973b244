"""What a request becomes before it is answered. Source: segmentio/kafka-go v0.4.8 transport.go (promise, async)."""

from collections.abc import Hashable
from random import Random
from typing import Any, NamedTuple, Protocol

from client.errors import without_traceback
from client.golang import Channel, Receive, select
from client.profiles.kafka_go.bounded import Bounded
from client.profiles.kafka_go.errors import GoError, from_context


class Promise(Protocol):
    async def wait(self, bounded: Bounded) -> Any:
        """The response's body, None where none is due. Raises GoError: the request's, or the context's when that is
        over first."""
        ...


class Async:
    """Resolved or rejected by the connection that carries the request, which never waits for that."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._result: Channel[Any] = Channel(1)

    def settle(self, result: Any) -> None:
        """`result` is a response's body, None, or a GoError."""
        self._result.try_send(without_traceback(result) if isinstance(result, GoError) else result)

    async def wait(self, bounded: Bounded) -> Any:
        chosen = await select(self._rng, result=Receive(self._result), done=Receive(bounded.ctx.done))
        if chosen.case == "done":
            assert bounded.ctx.error is not None
            raise from_context(bounded.ctx.error)
        if isinstance(chosen.value, GoError):
            raise chosen.value
        return chosen.value


class Rejected(NamedTuple):
    error: GoError

    async def wait(self, bounded: Bounded) -> Any:
        raise self.error


class ConnRequest(NamedTuple):
    """A request on its way to a connection."""

    bounded: Bounded
    request: Hashable
    result: Async
