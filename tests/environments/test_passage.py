"""Protects the proof of what is still in a proxy when its sender has given up."""

from harness.environments.passage import ProxyPacket, ProxyPassage, Side
from harness.levers import Flow

REQUEST = b"request"


def packet(
    side: Side, at_ns: int, *, flow: Flow = "to_broker", seq: int = 1, data: bytes = b"", **flags: bool
) -> ProxyPacket:
    return ProxyPacket(
        side=side, port=7, flow=flow, seq=seq, ack=1 + len(REQUEST), length=len(data), head=data,
        opens=flags.get("opens", False), ends=flags.get("ends", False), at_ns=at_ns,
    )  # fmt: skip


def test_bytes_are_withheld_once_their_sender_is_gone_and_until_they_come_out() -> None:
    passage = ProxyPassage("to_broker")
    passage.look_at(packet("client", 1, seq=0, opens=True))
    passage.look_at(packet("client", 2, data=REQUEST))
    passage.look_at(packet("client", 3, flow="to_client"))
    assert passage.withheld(None, None) == 0, "the sender waits for them"
    passage.look_at(packet("client", 9, seq=1 + len(REQUEST), ends=True))
    assert passage.withheld(None, None) == len(REQUEST)
    assert passage.withheld(5, None) == 0, "they went in before"
    passage.look_at(packet("broker", 10, seq=0, opens=True))
    passage.look_at(packet("broker", 11, data=REQUEST))
    assert passage.withheld(None, None) == 0
