"""Sends small segments at a rate over several connections, and prints how many it sent.

    python -S flood.py HOST PORT SEGMENTS_A_SECOND CONNECTIONS SECONDS

What it sends is the beginning of one large Kafka request, so that the reader waits for the rest.
"""

import socket
import struct
import sys
import time
from contextlib import suppress

FRAME_BYTES = 50 << 20
SEGMENT = b"." * 64
TCP_INFO_SEGS_OUT_AT = 136


def main() -> None:
    host, port, rate, connections, seconds = sys.argv[1:]
    sockets = [socket.create_connection((host, int(port))) for _ in range(int(connections))]
    for one in sockets:
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        one.setblocking(False)
        one.send(struct.pack("!i", FRAME_BYTES))
    began_s, sent = time.monotonic(), 0
    while (passed_s := time.monotonic() - began_s) < float(seconds):
        while sent < passed_s * int(rate):
            with suppress(BlockingIOError):  # the send buffer is full: no segment comes of it
                sockets[sent % len(sockets)].send(SEGMENT)
            sent += 1
        time.sleep(0.0005)
    time.sleep(0.2)
    infos = [one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192) for one in sockets]
    sys.stdout.write(f"{sum(struct.unpack_from('I', info, TCP_INFO_SEGS_OUT_AT)[0] for info in infos)}\n")


if __name__ == "__main__":
    main()
