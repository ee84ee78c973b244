"""One broker without its sockets: what it knows of the cluster, what it leads, and which fetches wait for new records.

Handlers of APIs see a Node and nothing else.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from client.wire import errors
from harness.brokers.embedded.cluster import ApiVersions, ClusterState
from harness.brokers.embedded.log import Fenced, PartitionLog, PartitionLogs, StorageError

_log = logging.getLogger(__name__)


CreateTopic = Callable[[str, int, int], None]
"""Takes a name, how many partitions, how many replicas of each: `Controller.create_topic`."""

WaitsFor = Callable[[int], None]
"""Takes the broker that a replica is on."""


class Disconnect(Exception):
    """A handler's answer where Kafka answers by closing the connection; the text goes to the broker's log."""


class PartitionError(Exception):
    """A partition cannot be served; `code` is the error to answer."""

    def __init__(self, code: int) -> None:
        super().__init__(errors.error_of(code).name)
        self.code = code


@dataclass(slots=True)
class LedPartition:
    """A partition that this broker leads."""

    epoch: int
    log: PartitionLog


class Node:
    """State of one broker. `apply` moves it to another epoch of the cluster."""

    def __init__(
        self,
        broker_id: int,
        state: ClusterState,
        logs: PartitionLogs,
        create_topic: CreateTopic | None = None,
        waits_for: WaitsFor = lambda _replica: None,
    ) -> None:
        """`create_topic` asks the controller for a topic, which comes with a later state; None: nobody listens.
        `waits_for` is called for each acknowledgement that has to wait for a replica, once for each of those."""
        self.broker_id = broker_id
        self.waits_for = waits_for
        self.create_topic = create_topic or (lambda _name, _partitions, _replication: None)
        self.logs = logs
        self.state = state.seen_by(broker_id)
        self.api_versions: ApiVersions | None = None
        self._led: dict[tuple[str, int], LedPartition] = {}
        self._waiting: list[asyncio.Future[None]] = []
        self._take_over()

    def apply(self, state: ClusterState) -> bool:
        """Take a newer state; an older one is passed over. Whether it was taken."""
        if state.epoch <= self.state.epoch:
            return False
        self.state = state.seen_by(self.broker_id)
        self._take_over()
        self.wake()
        return True

    def led_partition(self, topic: str, partition: int, current_epoch: int = -1) -> LedPartition:
        """The partition, where this broker leads it. Raises PartitionError.

        `current_epoch` is what the client believes the leader's epoch to be, -1 where it does not say (KIP-320).
        """
        placed = self.state.partition(topic, partition)
        if placed is None:
            raise PartitionError(errors.UNKNOWN_TOPIC_OR_PARTITION)
        led_partition = self._led.get((topic, partition))
        if led_partition is None:
            raise PartitionError(errors.NOT_LEADER_OR_FOLLOWER)
        if current_epoch >= 0 and current_epoch < led_partition.epoch:
            raise PartitionError(errors.FENCED_LEADER_EPOCH)
        if current_epoch > led_partition.epoch:
            raise PartitionError(errors.UNKNOWN_LEADER_EPOCH)
        return led_partition

    def append(self, topic: str, partition: int, batch: bytes) -> int:
        """Append a validated batch; return its first offset. Wakes fetches that wait for records.

        Raises PartitionError (not the leader, fenced, storage), and SequenceError and StaleProducer of `producers`.
        """
        led_partition = self.led_partition(topic, partition)
        try:
            offset = led_partition.log.append(led_partition.epoch, batch)
        except Fenced as fenced:
            _log.warning("broker %d no longer leads %s-%d: %s", self.broker_id, topic, partition, fenced)
            del self._led[topic, partition]
            raise PartitionError(errors.NOT_LEADER_OR_FOLLOWER) from fenced
        except StorageError as wrong:
            _log.error("broker %d: %s", self.broker_id, wrong)
            raise PartitionError(errors.KAFKA_STORAGE_ERROR) from wrong
        self.wake()
        return offset

    async def wait_for_change(self, deadline_s: float) -> bool:
        """Wait until records were appended or leaders changed; False where the loop's time passed the deadline."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            async with asyncio.timeout_at(deadline_s):
                await waiting
        except TimeoutError:
            return False
        finally:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
        return True

    def wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _take_over(self) -> None:
        member = self.state.broker(self.broker_id)
        self.api_versions = None if member is None else member.api_versions
        led_partition: dict[tuple[str, int], LedPartition] = {}
        for topic in self.state.topics:
            for index, partition in enumerate(topic.partitions):
                if partition.leader != self.broker_id:
                    continue
                before = self._led.get((topic.name, index))
                if before is not None and before.epoch == partition.leader_epoch:
                    led_partition[topic.name, index] = before
                    continue
                taken = self._lead(topic.name, index, partition.leader_epoch)
                if taken is not None:
                    led_partition[topic.name, index] = taken
        self._led = led_partition

    def _lead(self, topic: str, partition: int, epoch: int) -> LedPartition | None:
        try:
            log = self.logs.of(topic, partition)
            log.become_leader(epoch)
        except (Fenced, StorageError) as wrong:
            _log.error("broker %d cannot lead %s-%d: %s", self.broker_id, topic, partition, wrong)
            return None
        return LedPartition(epoch, log)
