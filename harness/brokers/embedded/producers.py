"""What a partition remembers of idempotent producers: enough to tell a repeated batch from a lost one.

Source: apache/kafka ProducerStateManager.java, ProducerAppendInfo.java, KIP-98, KIP-360.
"""

from collections import deque
from dataclasses import dataclass, field

from client.wire.batch_header import BatchHeader

_REMEMBERED = 5
"""Batches remembered for each producer: as many as a producer may have in flight."""

_SEQUENCES = 2**31


class SequenceError(Exception):
    """The batch does not follow the producer's last one; nothing was appended."""


class StaleProducer(Exception):
    """A newer epoch of this producer id has written; nothing was appended."""


@dataclass(slots=True)
class _Producer:
    epoch: int
    batches: deque[tuple[int, int, int]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


class ProducerStates:
    """By producer id: its epoch and the sequences and offsets of its last batches."""

    def __init__(self) -> None:
        self._known: dict[int, _Producer] = {}

    def duplicate_offset(self, header: BatchHeader) -> int | None:
        """The offset at which this very batch was appended before, None where it is new.

        Raises SequenceError, StaleProducer.
        """
        known = self._known.get(header.producer_id)
        if header.producer_id < 0 or known is None:
            return None
        if header.producer_epoch < known.epoch:
            text = f"epoch {header.producer_epoch} after epoch {known.epoch}"
            raise StaleProducer(f"producer {header.producer_id}: {text}")
        first, last = _sequences(header)
        if header.producer_epoch > known.epoch:
            expected = 0
        else:
            for seen_first, seen_last, offset in known.batches:
                if (seen_first, seen_last) == (first, last):
                    return offset
            expected = (known.batches[-1][1] + 1) % _SEQUENCES
        if first != expected:
            text = f"sequence {first} where {expected} was expected"
            raise SequenceError(f"producer {header.producer_id}: {text}")
        return None

    def record_append(self, header: BatchHeader, base_offset: int) -> None:
        if header.producer_id < 0:
            return
        known = self._known.get(header.producer_id)
        if known is None or header.producer_epoch > known.epoch:
            known = self._known[header.producer_id] = _Producer(header.producer_epoch)
        known.batches.append((*_sequences(header), base_offset))


def _sequences(header: BatchHeader) -> tuple[int, int]:
    return header.base_sequence, (header.base_sequence + header.last_offset_delta) % _SEQUENCES
