"""One metadata refresh at a time: who wants the same topics waits for its result, who wants others waits for the next.

Source: IBM/sarama v1.60.1 metadata.go.
"""

from collections.abc import Awaitable, Callable, Sequence

from client.errors import ClientError, without_traceback
from client.golang import Channel
from client.profiles.sarama.errors import TopicErrors
from client.runtime import ClientRuntime

RefreshFunction = Callable[[tuple[str, ...], str], Awaitable[None]]
"""Asks for these topics, all without any; the purpose goes before that of each back-off. Raises ClientError."""

_Result = Channel[ClientError | None]


class SingleFlightRefresher:
    """`refresh` is what others call; it calls the one handed in, with all the topics that have gathered."""

    def __init__(self, runtime: ClientRuntime, refresh: RefreshFunction) -> None:
        self._runtime = runtime
        self._refresh = refresh
        self._ongoing = False
        self._topics: dict[str, None] = {}
        self._all_topics = False
        self._waiting: list[_Result] = []
        self._next_topics: list[str] = []
        self._next_all_topics = False

    async def refresh(self, topics: tuple[str, ...], purpose: str) -> None:
        """Raises what the refresh that held these topics raised, as far as it concerns them."""
        while True:
            ours = not self._ongoing or self._covers(topics)
            if not self._ongoing:
                self._start(topics, purpose)
            elif not ours:
                self._queue(topics)
            result: _Result = Channel(1)
            self._waiting.append(result)
            error, _ = await result.receive()
            if not ours:
                continue
            if isinstance(error, TopicErrors):
                error = error.for_topics(topics)
            if error is None:
                return
            try:
                raise error
            finally:
                del error  # or it and this frame, which is in its traceback, hold each other

    def _covers(self, topics: Sequence[str]) -> bool:
        return self._all_topics or (bool(topics) and all(topic in self._topics for topic in topics))

    def _queue(self, topics: Sequence[str]) -> None:
        if not topics:
            self._next_all_topics = True
            self._next_topics = []
        self._next_topics += topics

    def _start(self, topics: Sequence[str], purpose: str) -> None:
        self._ongoing = True
        self._all_topics = self._next_all_topics or not topics
        if not self._next_all_topics:
            self._topics.update(dict.fromkeys(self._next_topics))
        self._topics.update(dict.fromkeys(topics))
        self._next_topics, self._next_all_topics = [], False
        asked = () if self._all_topics else tuple(self._topics)
        self._runtime.tasks.go(self._run(asked, purpose), "client/metadataRefresh")

    async def _run(self, topics: tuple[str, ...], purpose: str) -> None:
        error: ClientError | None = None
        try:
            await self._refresh(topics, purpose)
        except ClientError as failed:
            error = without_traceback(failed)
        self._ongoing = False
        waiting, self._waiting = self._waiting, []
        for result in waiting:
            await result.send(error)
        self._topics = {}
        self._all_topics = False
