"""What the kernel takes from a process before the peer has acknowledged it, on an ordinary network.

At first that is room for twice the ten segments of a new connection. A process that waits for more gets twice the
congestion window, whenever that is not what holds the sender back. Bytes are put together to batches, and only a new
batch asks for room: the last one is always filled. Left out: the 832 bytes of memory that each batch takes beside what
is in it.

Source: Linux 6.18 net/ipv4/tcp_input.c (tcp_sndbuf_expand, tcp_should_expand_sndbuf, tcp_check_space), tcp.c
(tcp_sendmsg_locked), include/net/sock.h (sk_stream_memory_free, sk_stream_is_writeable).
"""

from harness.environments.sim.congestion import INITIAL

_SEGMENT_MEMORY = 2_304
"""What the memory of a segment of 1,448 bytes is taken to be: a power of two, and the kernel's own record of it."""

_LARGEST = 4_194_304
"""net.ipv4.tcp_wmem."""


class SendBuffer:
    """Of one connection."""

    __slots__ = ("_size",)

    def __init__(self) -> None:
        self._size = 0
        self.fit(INITIAL)

    def fit(self, window: int) -> None:
        """A process waits, and a congestion window of so many segments is not full. The buffer never shrinks."""
        self._size = max(self._size, min(2 * max(window, INITIAL) * _SEGMENT_MEMORY, _LARGEST))

    def room(self, queued: int, unsent: int, batch: int) -> int:
        """How much more is taken where so many bytes are queued, and so many of them not sent yet."""
        begun = unsent % batch
        if begun or queued < self._size:
            return batch - begun
        return 0

    def writable(self, queued: int) -> bool:
        """Whether a waiting writer is woken."""
        return 3 * queued <= 2 * self._size
