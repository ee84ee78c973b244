"""The entries of a log's file, and what is left of them when writers are killed in the middle or were replaced.

One file per partition, opened by several processes and only ever appended to, each entry with one write. The kernel
puts such writes one behind the other: the order in the file is the order in which things happened, and no lock is
needed that a paused process could hold for ever. A new leader appends its epoch; a batch that stands behind a higher
epoch than its own is void. A write that a kill has cut is followed by the next entry, which is found by its mark and
checksums.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from crc32c import crc32c

_FORM = struct.Struct(">4sBiII")
_MARK = b"\xfaLOG"
HEAD_BYTES = _FORM.size


class EntryKind(IntEnum):
    """What an entry holds."""

    EPOCH = 1
    """A leader takes over; no body."""
    BATCH = 2
    """A record batch; the body is its bytes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry that is whole. `body_start` counts bytes from the start of what was read; `end` is behind the body."""

    kind: EntryKind
    epoch: int
    body_start: int
    end: int


def encode_entry(kind: EntryKind, epoch: int, body: bytes = b"") -> bytes:
    return _FORM.pack(_MARK, kind, epoch, len(body), _checksum(kind, epoch, body)) + body


def decode_entries(data: bytes) -> Iterator[Entry]:
    """Every whole entry in order; what lies between them was cut, and is passed over."""
    position = 0
    while True:
        position = data.find(_MARK, position)
        if position < 0:
            return
        entry = _entry(data, position)
        if entry is None:
            position += 1
            continue
        yield entry
        position = entry.end


def _entry(data: bytes, position: int) -> Entry | None:
    if len(data) - position < HEAD_BYTES:
        return None
    _, kind, epoch, size, checksum = _FORM.unpack_from(data, position)
    body_start = position + HEAD_BYTES
    end = body_start + size
    if end > len(data) or kind not in (EntryKind.EPOCH, EntryKind.BATCH):
        return None
    if _checksum(kind, epoch, data[body_start:end]) != checksum:
        return None
    return Entry(EntryKind(kind), epoch, body_start, end)


def _checksum(kind: int, epoch: int, body: bytes) -> int:
    return int(crc32c(body, crc32c(struct.pack(">BiI", kind, epoch, len(body)))))
