"""Protects the proof of what is still in a proxy when its sender has given up, and of what the proxy swallowed."""

from harness.environments.passage import ProxyPacket, ProxyPassage, Side
from harness.levers import Flow

REQUEST = b"request"
ANSWER = b"answer"


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


def answer_that_stays_in_the_proxy() -> ProxyPassage:
    """One connection; the broker has answered, and nothing has come out for the client."""
    passage = ProxyPassage("to_client")
    passage.look_at(packet("client", 1, seq=0, opens=True))
    passage.look_at(packet("client", 2))
    passage.look_at(packet("broker", 3, seq=0, opens=True))
    passage.look_at(packet("broker", 10, flow="to_client", data=ANSWER))
    passage.look_at(packet("broker", 11)._replace(ack=1 + len(ANSWER)))
    return passage


def test_an_answer_is_swallowed_where_the_proxy_passes_on_that_its_client_gave_up() -> None:
    passage = answer_that_stays_in_the_proxy()
    passage.look_at(packet("client", 29, ends=True))
    passage.look_at(packet("broker", 30, ends=True))
    assert passage.swallowed(None, None, timeout_s=0) == len(ANSWER)


def test_an_answer_is_not_swallowed_where_the_proxy_ends_its_connection_by_itself() -> None:
    passage = answer_that_stays_in_the_proxy()
    passage.look_at(packet("broker", 30, ends=True))
    passage.look_at(packet("client", 31, ends=True))
    assert passage.swallowed(None, None, timeout_s=0) == 0
