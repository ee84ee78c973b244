"""The metadata refresh: it asks one broker after the other, and tries again.

Source: Shopify/sarama v1.27.2 client.go, IBM/sarama v1.60.1 client.go (tryRefreshMetadata, updateMetadata).
"""

import asyncio
from functools import lru_cache
from typing import NamedTuple

from client.errors import ClientError, without_traceback
from client.events import TraceKind
from client.golang import sleep
from client.metadata import Snapshot, Topic, snapshot_from_response
from client.profiles.sarama.config import Config
from client.profiles.sarama.errors import KError, PacketEncodingError, TopicErrors
from client.profiles.sarama.kerrors import CODES
from client.profiles.sarama.registry import BrokerRegistry
from client.runtime import ClientRuntime
from client.wire.apis.metadata import MetadataRequest, MetadataRequestTopic

_NO_ERROR = CODES["ErrNoError"]
_UNKNOWN_TOPIC = CODES["ErrUnknownTopicOrPartition"]
_LEADER_NOT_AVAILABLE = CODES["ErrLeaderNotAvailable"]
_FATAL = frozenset(CODES[name] for name in ("ErrSASLAuthenticationFailed", "ErrTopicAuthorizationFailed"))


class _RefreshResult(NamedTuple):
    """The result of one try; `error` may be None although another try is due (before 1.60.1)."""

    should_retry: bool
    error: ClientError | None


class MetadataRefresh:
    """Keeps the last metadata: `topics` by name, and `known_topics`, every topic that was ever in an answer."""

    def __init__(self, runtime: ClientRuntime, conf: Config, registry: BrokerRegistry) -> None:
        self.topics: dict[str, Topic] = {}
        self.known_topics: dict[str, None] = {}
        self._runtime = runtime
        self._conf = conf
        self._registry = registry
        self._updated_ms = 0

    def clear(self) -> None:
        self.topics = {}
        self.known_topics = {}

    async def refresh(self, topics: tuple[str, ...], purpose: str) -> None:
        """Ask for these topics, all without any; `purpose` goes before that of each back-off in the trace.

        Upstream calls itself for each retry; here it is a loop. Raises ClientError.
        """
        deadline_at = None
        if self._conf.metadata_timeout_s > 0:
            deadline_at = asyncio.get_running_loop().time() + self._conf.metadata_timeout_s
        attempts_remaining = self._conf.metadata_retry_max
        backoff = self._conf.metadata_retry_backoff
        tracer = self._runtime.tracer
        try_number = 1
        while True:
            found = await self._traced_attempt(topics, deadline_at, try_number)
            last = not found.should_retry or attempts_remaining <= 0 or _past_deadline(deadline_at, backoff.seconds)
            if not last and backoff.seconds > 0:
                with tracer.sleeping(backoff, f"{purpose}metadata back-off"):
                    await sleep(backoff.seconds)
            if last or self._refreshed_meanwhile(backoff.seconds):
                if found.error is not None:
                    raise found.error
                return
            attempts_remaining -= 1
            try_number += 1

    def _refreshed_meanwhile(self, backoff_s: float) -> bool:
        if not self._conf.release.skips_retry_if_refreshed or self._updated_ms == 0:
            return False
        return asyncio.get_running_loop().time() - self._updated_ms / 1000 < backoff_s

    async def _traced_attempt(
        self, topics: tuple[str, ...], deadline_at: float | None, try_number: int
    ) -> _RefreshResult:
        tracer = self._runtime.tracer
        tracer.emit(TraceKind.REFRESH_STARTED, try_number=try_number)
        try:
            found = await self._try_refresh_metadata(topics, deadline_at)
        except ClientError as fatal:
            tracer.emit(TraceKind.REFRESH_ENDED, try_number=try_number, outcome="failed", error=fatal.text)
            raise
        failed = {} if found.error is None else {"error": found.error.text}
        outcome = "failed" if found.should_retry or found.error is not None else "ok"
        tracer.emit(TraceKind.REFRESH_ENDED, try_number=try_number, outcome=outcome, **failed)
        return found

    async def _try_refresh_metadata(self, topics: tuple[str, ...], deadline_at: float | None) -> _RefreshResult:
        """Brokers one after the other until one answers."""
        creates = bool(topics) and self._conf.metadata_allow_auto_topic_creation
        request = _request(topics, allow_auto_topic_creation=creates)
        broker_errors: list[ClientError] = []
        broker = await self._registry.pick_broker()
        while broker is not None and not _past_deadline(deadline_at, 0.0):
            try:
                response = await broker.get_metadata(request)
            except PacketEncodingError:
                raise
            except ClientError as error:
                if isinstance(error, KError):
                    if error.code in _FATAL:
                        raise
                elif self._conf.release.wraps_broker_errors:
                    broker_errors.append(error)
                without_traceback(error)  # the broker keeps it
            else:
                snapshot = snapshot_from_response(response)
                if snapshot.nodes or not self._conf.release.rejects_empty_metadata:
                    return await self._update(snapshot, all_known_metadata=not topics)
            await broker.close()
            await self._registry.deregister(broker)
            broker = await self._registry.pick_broker()
        if broker is None:
            await self._registry.resurrect_dead_seeds()
        return _RefreshResult(True, self._conf.errors.sentinel("ErrOutOfBrokers", broker_errors))

    async def _update(self, snapshot: Snapshot, *, all_known_metadata: bool) -> _RefreshResult:
        """Store an answer."""
        async with self._registry.lock.writing:
            if self._registry.closed:
                return _RefreshResult(False, None)
            self._registry.update(snapshot.nodes)
            if all_known_metadata:
                self.clear()
            found = self._store(snapshot)
        if not found.should_retry:
            self._updated_ms = int(asyncio.get_running_loop().time() * 1000)
        return found

    def _store(self, snapshot: Snapshot) -> _RefreshResult:
        should_retry = False
        errors: dict[str, KError] = {}
        last: KError | None = None
        for topic in snapshot.topics:
            self.known_topics[topic.name] = None
            self.topics.pop(topic.name, None)
            leaderless = topic.error == _LEADER_NOT_AVAILABLE
            if topic.error in (_UNKNOWN_TOPIC, _LEADER_NOT_AVAILABLE):
                should_retry = True
            if topic.error not in (_NO_ERROR, _LEADER_NOT_AVAILABLE):  # do not store partial results
                last = errors[topic.name] = self._conf.errors.kerror_from_code(topic.error)
                continue
            self.topics[topic.name] = topic
            if any(p.error == _LEADER_NOT_AVAILABLE for p in topic.partitions.values()):
                leaderless = should_retry = True
            if leaderless:
                errors[topic.name] = self._conf.errors.kerror_from_code(_LEADER_NOT_AVAILABLE)
        if not self._conf.release.wraps_broker_errors:
            return _RefreshResult(should_retry, last)
        return _RefreshResult(should_retry, TopicErrors(errors) if errors else None)


@lru_cache(maxsize=64)
def _request(topics: tuple[str, ...], *, allow_auto_topic_creation: bool) -> MetadataRequest:
    return MetadataRequest(
        topics=tuple(MetadataRequestTopic(name=topic) for topic in topics) if topics else None,
        allow_auto_topic_creation=allow_auto_topic_creation,
    )


def _past_deadline(deadline_at: float | None, backoff_s: float) -> bool:
    return deadline_at is not None and asyncio.get_running_loop().time() + backoff_s > deadline_at
