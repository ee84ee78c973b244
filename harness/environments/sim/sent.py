"""A segment that is on its way."""


class Sent:
    """Sent at `at` for the last time; `again`: not for the first. `end` is the offset after it, FIN included.

    On an ordinary network only: `sacked` that it has arrived behind a gap; `lost` that it is taken for lost; `resent`
    that it was sent again and nothing is known of that yet. `delivered` counts what had arrived when it was sent, and
    `turn` what the kernel had done by then: of things done at one moment, one was first.
    """

    __slots__ = ("again", "at", "delivered", "end", "fin", "lost", "payload", "resent", "sacked", "seq", "turn")

    def __init__(self, seq: int, payload: bytes, at: float, *, fin: bool) -> None:
        self.seq = seq
        self.payload = payload
        self.fin = fin
        self.end = seq + len(payload) + fin
        self.at = at
        self.again = self.sacked = self.lost = self.resent = False
        self.delivered = self.turn = 0
