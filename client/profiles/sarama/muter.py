"""Partitions of which a batch is in flight: the next one waits, so that their order is kept while requests overlap.

Source: IBM/sarama v1.60.1 async_producer.go (partitionMuter).
"""

from collections.abc import Iterable

from client.golang import Channel
from client.profiles.sarama.produce_set import PartitionSet, ProduceSet


class PartitionMuter:
    """One for the whole producer: a batch may wait for another broker's."""

    def __init__(self) -> None:
        self.unmute_signal: Channel[None] = Channel()
        """Closed by the next unmute, which puts another in its place."""
        self._in_flight: set[tuple[str, int]] = set()
        self._closed = False

    def try_mute(self, batches: ProduceSet) -> bool:
        """Mute every partition of the set, or none where one of them is muted already."""
        partitions = [(batch.topic, batch.partition) for batch in batches.each_partition()]
        if not partitions or any(partition in self._in_flight for partition in partitions):
            return False
        self._in_flight.update(partitions)
        return True

    def try_mute_partition(self, topic: str, partition: int) -> bool:
        if (topic, partition) in self._in_flight:
            return False
        self._in_flight.add((topic, partition))
        return True

    def unmute(self, batches: Iterable[PartitionSet]) -> None:
        """Tasks that wait for the signal try again, even if no partition was unmuted."""
        if self._closed:
            return
        for batch in batches:
            self._in_flight.discard((batch.topic, batch.partition))
        signal, self.unmute_signal = self.unmute_signal, Channel()
        signal.close()

    def close(self) -> None:
        self._closed = True
        self.unmute_signal.close()
