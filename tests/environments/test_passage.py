"""Protects the proof of what is still in a proxy when its sender has given up, of what the proxy swallowed, and of what
came out late by its rate."""

import pytest

from harness.environments.passage import ProxyPassage
from harness.environments.proxy_connection import ProxyPacket, Side
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
    assert passage.withheld(1.0, None, None) == 0, "the sender waits for them"
    passage.look_at(packet("client", 9, seq=1 + len(REQUEST), ends=True))
    assert passage.withheld(1.0, None, None) == len(REQUEST)
    assert passage.withheld(1.0, 5, None) == 0, "they went in before"
    assert passage.withheld(6e-9, None, None) == 0, "the sender waited longer than they can have been held for"
    passage.look_at(packet("broker", 10, seq=0, opens=True))
    passage.look_at(packet("broker", 11, data=REQUEST))
    assert passage.withheld(1.0, None, None) == 0


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


MS = 1_000_000


@pytest.mark.parametrize(("undone_ms", "swallowed"), [(29, len(ANSWER)), (40, 0)])
def test_an_answer_is_swallowed_where_the_proxy_ends_its_connection_once_its_toxics_are_undone(
    undone_ms: int, swallowed: int
) -> None:
    passage = answer_that_stays_in_the_proxy()
    passage.look_at(packet("broker", 30 * MS, ends=True))
    passage.look_at(packet("client", 31 * MS, ends=True))
    passage.undo_begins(undone_ms * MS)
    assert passage.swallowed(None, None, timeout_s=0) == swallowed


def test_bytes_go_in_when_they_are_sent_again_behind_an_end_that_was_seen_before_them() -> None:
    passage = ProxyPassage("to_broker")
    passage.look_at(packet("client", 1 * MS, seq=101, ends=True))
    passage.look_at(packet("client", 1 * MS, flow="to_client")._replace(ack=1))
    passage.look_at(packet("client", 10 * MS, data=bytes(100)))
    passage.look_at(packet("client", 10 * MS, flow="to_client")._replace(ack=102))
    passage.look_at(packet("broker", 11 * MS, seq=0, opens=True))
    passage.look_at(packet("broker", 60 * MS, data=bytes(100)))
    assert passage.held_s(None, None) == pytest.approx(0.05)


def test_the_first_segment_that_is_seen_stands_for_those_that_its_receiver_lacks() -> None:
    passage = ProxyPassage("to_broker")
    passage.look_at(packet("client", 1 * MS, seq=101, data=bytes(20)))
    passage.look_at(packet("client", 1 * MS, flow="to_client")._replace(ack=1))
    passage.look_at(packet("client", 10 * MS, data=bytes(100)))
    passage.look_at(packet("client", 10 * MS, flow="to_client")._replace(ack=121))
    passage.look_at(packet("broker", 11 * MS, seq=0, opens=True))
    passage.look_at(packet("broker", 61 * MS, data=bytes(120)))
    assert passage.held_s(None, None) == pytest.approx(0.06)
    assert passage.slices(None, None) == 0


def test_an_answer_that_passes_after_healing_and_is_not_acknowledged_yet_was_not_swallowed_before() -> None:
    passage = answer_that_stays_in_the_proxy()
    passage.undo_begins(20 * MS)
    passage.look_at(packet("broker", 21 * MS, ends=True))
    passage.look_at(packet("client", 22 * MS, ends=True))
    for side in ("client", "broker"):
        passage.look_at(packet(side, 30 * MS, seq=0, opens=True)._replace(port=8))
        passage.look_at(packet(side, 31 * MS)._replace(port=8))
        passage.look_at(packet(side, 32 * MS, flow="to_client", data=2 * ANSWER)._replace(port=8))
    assert passage.swallowed(None, None, timeout_s=0) == len(ANSWER)


def test_an_answer_is_swallowed_also_where_the_proxy_ends_another_connection_at_that_moment() -> None:
    passage = answer_that_stays_in_the_proxy()
    passage.look_at(packet("broker", 12, seq=0, opens=True)._replace(port=8))
    passage.look_at(packet("client", 30, ends=True))
    passage.look_at(packet("broker", 30, ends=True)._replace(port=8))
    passage.look_at(packet("broker", 30, ends=True))
    assert passage.swallowed(None, None, timeout_s=0) == len(ANSWER)


@pytest.mark.parametrize(("ended_ms", "cut"), [(150, 0), (201, 1), (900, 0)], ids=["too-soon", "its-time", "too-late"])
def test_an_idle_connection_is_cut_in_silence_where_it_ends_when_it_should(ended_ms: int, cut: int) -> None:
    passage = ProxyPassage("to_broker")
    passage.begins(0)
    passage.look_at(packet("client", ended_ms * MS, flow="to_client", ends=True))
    assert passage.cut_in_silence(0.2, None, None) == cut
    assert passage.cut_in_silence(0, None, None) == 0, "it ends none before its removal"


def test_what_a_removal_cuts_counts_at_its_moment() -> None:
    passage = ProxyPassage("to_client")
    passage.undo_begins(10, cut=2)
    passage.undo_begins(20)
    assert passage.cut_in_silence(0, None, None) == 2
    assert passage.cut_in_silence(0, 5, 10) == 2
    assert passage.cut_in_silence(0, 11, None) == 0


def test_an_end_is_held_also_where_the_proxy_has_ended_another_connection_by_itself_before() -> None:
    passage = ProxyPassage("to_client")
    for port, broker_ms, client_ms in ((7, None, 5), (8, 10, 210)):
        for side in ("client", "broker"):
            passage.look_at(packet(side, 1 * MS, seq=0, opens=True)._replace(port=port))
            passage.look_at(packet(side, 2 * MS)._replace(port=port))
        if broker_ms is not None:
            passage.look_at(packet("broker", broker_ms * MS, flow="to_client", ends=True)._replace(port=port))
        passage.look_at(packet("client", client_ms * MS, flow="to_client", ends=True)._replace(port=port))
    assert passage.end_held_s(None, None) == pytest.approx(0.2)


def request_that_comes_out(*parts: tuple[int, int], size: int = 100) -> ProxyPassage:
    """A request of `size` bytes goes in at 0 ms; of it come out so many bytes after so many milliseconds."""
    passage = ProxyPassage("to_broker")
    passage.look_at(packet("client", -2, seq=0, opens=True))
    passage.look_at(packet("broker", -1, seq=0, opens=True))
    passage.look_at(packet("client", 0, data=bytes(size)))
    passage.look_at(packet("client", 1, flow="to_client")._replace(ack=1 + size))
    seq = 1
    for number, at_ms in parts:
        passage.look_at(packet("broker", at_ms * MS, seq=seq, data=bytes(number)))
        seq += number
    return passage


@pytest.mark.parametrize(
    ("bytes_per_s", "seconds"),
    [(1_000, 0.0), (4_000, 0.025), (10_000, 0.01)],
    ids=["too-soon", "its-time", "longer-than-its-time"],
)
def test_a_rate_is_seen_in_bytes_that_come_out_when_it_lets_them(bytes_per_s: int, seconds: float) -> None:
    passage = request_that_comes_out((100, 25))
    assert passage.paced_s(bytes_per_s, None, None) == pytest.approx(seconds)
    assert passage.paced_s(bytes_per_s, 1, None) == 0, "they went in before"


def test_a_rate_is_seen_in_the_first_parts_of_a_request_that_never_comes_out_as_a_whole() -> None:
    passage = request_that_comes_out((100, 100), (100, 200), size=60_000)
    assert passage.paced_s(1_000, None, None) == pytest.approx(0.2)
    assert request_that_comes_out((59_000, 100), size=60_000).paced_s(1_000, None, None) == 0, "removed meanwhile"


@pytest.mark.parametrize(("bytes_per_s", "seconds"), [(1_000, 0.05), (10_000, 0.0)], ids=["its-time", "longer"])
def test_a_rate_is_seen_in_bytes_that_it_keeps_still(bytes_per_s: int, seconds: float) -> None:
    passage = request_that_comes_out()
    passage.update(50 * MS)
    assert passage.paced_s(bytes_per_s, None, None) == pytest.approx(seconds)
    assert passage.paced_s(bytes_per_s, 1, None) == 0, "they went in before"


def test_bytes_that_came_out_before_their_arrival_was_acknowledged_are_not_sliced() -> None:
    passage = ProxyPassage("to_broker")
    for side, at_ns in (("client", 1), ("broker", 2)):
        passage.look_at(packet(side, at_ns, seq=0, opens=True))
    passage.look_at(packet("client", 3, data=REQUEST))
    passage.look_at(packet("broker", 4, data=REQUEST))
    assert passage.slices(None, None) == 0
    passage.look_at(packet("client", 5, flow="to_client"))
    assert passage.slices(None, None) == 0
    passage.look_at(packet("broker", 6, seq=1 + len(REQUEST), data=REQUEST[:3]))
    passage.look_at(packet("broker", 7, seq=4 + len(REQUEST), data=REQUEST[3:]))
    assert passage.slices(None, None) == 0, "nothing that went in is known to have arrived"
