"""A cluster's connections and its cached metadata. Source: segmentio/kafka-go v0.4.8 transport.go (connPool).

`discover` asks for metadata when the pool is made, then again and again after a uniform share of the MetadataTTL, or
when it is woken. The pool is ready at the first outcome, good or bad.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from client.events import TraceKind
from client.golang import Channel, Receive, Send, Timer, background, select, with_cancel
from client.profiles.kafka_go.bounded import Bounded
from client.profiles.kafka_go.config import TransportConfig
from client.profiles.kafka_go.conn_group import Address, Conn, ConnGroup
from client.profiles.kafka_go.errors import GoError, from_context
from client.profiles.kafka_go.layout import (
    CONTROL,
    Layout,
    broker_for,
    make_layout,
    merge_list_offsets,
    split_list_offsets,
)
from client.profiles.kafka_go.promise import Async, ConnRequest, Promise, Rejected
from client.runtime import ClientRuntime
from client.wire.apis.create_topics import CreateTopicsRequest
from client.wire.apis.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from client.wire.apis.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from client.wire.errors import NONE, UNKNOWN_TOPIC_OR_PARTITION

_BROKER_NOT_AVAILABLE = 8
_FIRST_BACKOFF_S, _LAST_BACKOFF_S = 0.1, 2.0
_NANOSECOND_S = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolState:
    """`error` is that of the first metadata requests, as long as there was no metadata; in v0.4.8 it stays."""

    metadata: MetadataResponse | None = None
    error: GoError | None = None
    layout: Layout = field(default_factory=Layout)


class ConnPool:
    """Made by `Transport.grab_pool`, which starts it. It lives as long as somebody refers to it."""

    def __init__(self, runtime: ClientRuntime, conf: TransportConfig, addresses: Sequence[Address]) -> None:
        self.state = PoolState()
        self._runtime = runtime
        self._conf = conf
        self._references = 2  # the Transport's and the caller's
        self._ctx = with_cancel(background())
        self._ready: Channel[None] = Channel()
        self._is_ready = False
        self._wake: Channel[Channel[None]] = Channel()
        self._conns: dict[int, ConnGroup] = {}
        self._ctrl = ConnGroup(runtime, conf, addresses, CONTROL)

    def start(self) -> None:
        self._runtime.tasks.go(self._discover(), "connPool/discover")

    def ref(self) -> None:
        self._references += 1

    def unref(self) -> None:
        """The last one closes what is idle, and ends `discover`."""
        self._references -= 1
        if self._references == 0:
            for group in self._conns.values():
                group.close_idle_conns()
            self._ctrl.close_idle_conns()
            self._ctx.cancel()

    async def round_trip(self, bounded: Bounded, request: Hashable) -> Any:
        """The response's body, None where none is due. Metadata comes from the cache. Raises GoError."""
        chosen = await select(self._runtime.rng, ready=Receive(self._ready), done=Receive(bounded.ctx.done))
        if chosen.case == "done":
            assert bounded.ctx.error is not None
            raise from_context(bounded.ctx.error)
        if not isinstance(request, CreateTopicsRequest) or self._conf.release.refreshes_created_topics_only:
            return await self._round_trip(bounded, request)
        try:
            return await self._round_trip(bounded, request)
        finally:
            await self._refresh_metadata(bounded, [topic.name for topic in request.topics])

    async def _round_trip(self, bounded: Bounded, request: Hashable) -> Any:
        state = self.state
        if isinstance(request, MetadataRequest):
            if state.error is not None:
                raise state.error
            assert state.metadata is not None
            cached = _filtered(request, state.metadata)
            missing = any(topic.error_code == UNKNOWN_TOPIC_OR_PARTITION for topic in cached.topics)
            if not (self._conf.release.creates_topics and request.allow_auto_topic_creation and missing):
                return cached
        if isinstance(request, ListOffsetsRequest):
            return await self._split(bounded, request, state)
        response = await (await self._send_request(bounded, request, state)).wait(bounded)
        if self._conf.release.refreshes_created_topics_only and isinstance(
            request, CreateTopicsRequest | MetadataRequest
        ):
            created = [topic.name or "" for topic in response.topics if topic.error_code == NONE]
            await self._refresh_metadata(bounded, created)
        return response

    async def _split(self, bounded: Bounded, request: ListOffsetsRequest, state: PoolState) -> ListOffsetsResponse:
        """All requests are sent before the first answer is waited for."""
        requests = split_list_offsets(request)
        promises = [await self._send_request(bounded, one, state) for one in requests]
        results: list[ListOffsetsResponse | GoError] = []
        for promise in promises:
            try:
                results.append(await promise.wait(bounded))
            except GoError as error:
                results.append(error)
        return merge_list_offsets(requests, results)

    async def _send_request(self, bounded: Bounded, request: Hashable, state: PoolState) -> Promise:
        try:
            conn = await self._grab_conn(bounded, broker_for(request, state.layout))
        except GoError as error:
            return Rejected(error)
        result = Async(self._runtime.rng)
        await conn.requests.send(ConnRequest(bounded, request, result))
        return result

    async def _grab_conn(self, bounded: Bounded, broker_id: int) -> Conn:
        if broker_id < 0:
            return await self._ctrl.grab_conn_or_connect(bounded)
        group = self._conns.get(broker_id)
        if group is None:
            raise self._conf.release.errors.kerror(_BROKER_NOT_AVAILABLE)
        return await group.grab_conn_or_connect(bounded)

    async def _refresh_metadata(self, bounded: Bounded, expected: Sequence[str]) -> None:
        """Wake `discover` until all of these topics are there, or the context is over."""
        if not expected and not self._conf.release.refreshes_created_topics_only:
            return
        rng, done = self._runtime.rng, Receive(bounded.ctx.done)
        backoff_s = _FIRST_BACKOFF_S
        while bounded.ctx.error is None:
            notify: Channel[None] = Channel()
            if (await select(rng, done=done, wake=Send(self._wake, notify))).case == "done":
                return
            if (await select(rng, notify=Receive(notify), done=done)).case == "done":
                return
            if all(topic in self.state.layout.leaders for topic in expected):
                return
            if rng.random() * backoff_s > _NANOSECOND_S:  # upstream draws a delay, and then waits for the whole of it
                timer = Timer(backoff_s)
                await select(rng, done=done, timer=Receive(timer.channel))
                timer.stop()
                backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)

    def _update(self, metadata: MetadataResponse | None, error: GoError | None) -> None:
        if error is not None:
            # What is known is kept, so that a failure that passes does no harm.
            if self.state.metadata is not None:
                return
            self.state = replace(self.state, error=error)
            self._set_ready()
            return
        assert metadata is not None
        known, layout = self.state.layout, make_layout(metadata)
        self.state = replace(
            self.state,
            metadata=metadata,
            layout=layout,
            error=None if self._conf.release.clears_metadata_error else self.state.error,
        )
        self._set_ready()
        if self._ctx.error is not None:
            return
        for broker_id, broker in known.brokers.items():
            if layout.brokers.get(broker_id) != broker and broker_id in self._conns:
                self._conns.pop(broker_id).close_idle_conns()
        for broker_id, broker in layout.brokers.items():
            if known.brokers.get(broker_id) != broker:
                address = (broker.host, broker.port)
                self._conns[broker_id] = ConnGroup(self._runtime, self._conf, (address,), broker_id)

    def _set_ready(self) -> None:
        if not self._is_ready:
            self._is_ready = True
            self._ready.close()

    async def _discover(self) -> None:
        bounded = Bounded(self._ctx)
        timer = Timer(self._ttl_s())
        notify: Channel[None] | None = None
        number = 0
        try:
            while True:
                number += 1
                if not await self._ask_for_metadata(bounded, number):
                    return
                if notify is not None:
                    notify.close()
                    notify = None
                chosen = await select(
                    self._runtime.rng,
                    timer=Receive(timer.channel),
                    done=Receive(self._ctx.done),
                    wake=Receive(self._wake),
                )
                if chosen.case == "done":
                    return
                if chosen.case == "timer":
                    timer.reset(self._ttl_s())
                else:
                    notify = chosen.value
        finally:
            timer.stop()

    async def _ask_for_metadata(self, bounded: Bounded, number: int) -> bool:
        """Ask once, and take what comes. False where the pool was closed meanwhile."""
        tracer = self._runtime.tracer
        tracer.emit(TraceKind.REFRESH_STARTED, try_number=number)
        metadata, error = None, None
        try:
            conn = await self._ctrl.grab_conn_or_connect(bounded)
            metadata = await self._metadata_from(conn, bounded)
        except GoError as failed:
            error = failed
        why = {} if error is None else {"error": error.text}
        tracer.emit(TraceKind.REFRESH_ENDED, try_number=number, outcome="ok" if error is None else "failed", **why)
        if error is not None and self._ctx.error is not None and error.text == self._ctx.error:
            return False
        self._update(metadata, error)
        return True

    async def _metadata_from(self, conn: Conn, bounded: Bounded) -> MetadataResponse:
        operations = self._conf.release.asks_for_authorized_operations
        request = MetadataRequest(
            allow_auto_topic_creation=False,
            include_cluster_authorized_operations=operations,
            include_topic_authorized_operations=operations,
        )
        deadline = bounded.within(self._conf.metadata_ttl)
        with deadline.ctx:
            result = Async(self._runtime.rng)
            await conn.requests.send(ConnRequest(deadline, request, result))
            metadata: MetadataResponse = await result.wait(deadline)
            return metadata

    def _ttl_s(self) -> float:
        return self._runtime.rng.random() * self._conf.metadata_ttl.seconds


def _filtered(request: MetadataRequest, metadata: MetadataResponse) -> MetadataResponse:
    """What the cache has of the topics that were asked for. Source: transport.go (filterMetadataResponse)."""
    if request.topics is None:
        return metadata
    known = {topic.name: topic for topic in metadata.topics}
    unknown = UNKNOWN_TOPIC_OR_PARTITION
    return replace(
        metadata,
        topics=tuple(
            known.get(asked.name) or MetadataResponseTopic(name=asked.name, error_code=unknown)
            for asked in request.topics
        ),
    )
