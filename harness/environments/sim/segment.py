"""What travels between two sockets: one TCP segment."""

Address = tuple[str, int]

SYN, ACK, FIN, RST = 1, 2, 4, 8


class Segment:
    """`seq` and `ack` are offsets into the two byte streams from 0; SYN takes no number, FIN takes one.

    `edge` is the offset up to which the sender of this segment can receive. `gap` says that it holds data beyond a
    hole (what a selective acknowledgement tells). `at` is when it was sent and `echo` the `at` of what it answers
    (RFC 7323).
    """

    __slots__ = ("ack", "at", "dst", "echo", "edge", "flags", "gap", "payload", "seq", "src")

    def __init__(
        self,
        src: Address,
        dst: Address,
        flags: int,
        seq: int = 0,
        payload: bytes = b"",
        ack: int = 0,
        edge: int = 0,
        *,
        gap: bool = False,
    ) -> None:
        self.src = src
        self.dst = dst
        self.flags = flags
        self.seq = seq
        self.payload = payload
        self.ack = ack
        self.edge = edge
        self.gap = gap
        self.at = self.echo = 0.0

    def __repr__(self) -> str:
        names = "+".join(n for bit, n in ((SYN, "SYN"), (ACK, "ACK"), (FIN, "FIN"), (RST, "RST")) if self.flags & bit)
        return f"<{names} {self.src} -> {self.dst} seq={self.seq} len={len(self.payload)} ack={self.ack}>"
