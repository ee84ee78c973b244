"""Into which records Go's TLS cuts what is written: each is a write of its own to the connection beneath.

So a request of some KiB finds out at its second record what the peer's kernel answered to the first.
Source: Go 1.26.8, crypto/tls/conn.go (writeRecordLocked, maxPayloadSizeForWrite).
"""

from collections.abc import Iterator

_LARGEST = 16 * 1024
_FIRST = 1208 - 5 - 16 - 1
"""What a TCP segment is taken to hold, without the header, the tag and the type of a record of TLS 1.3."""
_LARGE_FROM_BYTES = 128 * 1024
"""Once so much was written, records are as large as can be."""


class TlsRecords:
    """One connection's: records grow one by one, from what fits into a segment."""

    def __init__(self) -> None:
        self._records = 0
        self._written_bytes = 0

    def cut(self, data: bytes) -> Iterator[bytes]:
        """The records of one write, as plain text."""
        start = 0
        while start < len(data):
            record = data[start : start + self._next_size()]
            yield record
            start += len(record)
        self._written_bytes += len(data)

    def _next_size(self) -> int:
        if self._written_bytes >= _LARGE_FROM_BYTES:
            return _LARGEST
        self._records += 1
        return min(self._records * _FIRST, _LARGEST)
