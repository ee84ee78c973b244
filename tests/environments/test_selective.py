"""Protects what two simulated ends of a path where packets are overtaken say to each other, and what a sender makes of
it: selective acknowledgements (RFC 2018, 2883), timestamps (RFC 7323) and RACK (RFC 8985), as Linux has them."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import pytest

from harness.environments.sim.loop import SimLoop
from harness.environments.sim.receive_window import TunedReceiver
from harness.environments.sim.round_trip import USUAL, RoundTrip
from harness.environments.sim.scoreboard import Heard, Scoreboard
from harness.environments.sim.segment import ACK, Segment
from harness.environments.sim.sent import Sent

NEAR, FAR = ("127.0.0.1", 40000), ("127.0.2.1", 9092)
SIZE = 1_000
SLOW = RoundTrip(0.1)


@pytest.fixture
def receiver() -> Iterator[TunedReceiver]:
    loop = SimLoop(Random(1))
    yield TunedReceiver(loop)
    loop.close()


def data(number: int, at_s: float = 1.0) -> Segment:
    """The segment of this number."""
    segment = Segment(NEAR, FAR, ACK, number * SIZE, bytes(SIZE))
    segment.at = at_s
    return segment


def told(receiver: TunedReceiver) -> list[tuple[int, int]]:
    """What the next acknowledgement selects: numbers of segments, the second one not included."""
    return [(start // SIZE, end // SIZE) for start, end in receiver.sacks()]


def test_what_comes_behind_a_gap_is_selected_the_latest_first(receiver: TunedReceiver) -> None:
    for number in (1, 3, 4, 6, 8):
        receiver.take(data(number))
    assert told(receiver) == [(8, 9), (6, 7), (3, 5)]
    receiver.take(data(0))
    assert told(receiver) == [(8, 9), (6, 7), (3, 5)]
    receiver.take(data(2))
    assert told(receiver) == [(8, 9), (6, 7)]


def test_what_comes_twice_is_said_once_and_first(receiver: TunedReceiver) -> None:
    for number in (0, 2, 0):
        receiver.take(data(number))
    assert told(receiver) == [(0, 1), (2, 3)]
    assert told(receiver) == [(2, 3)]
    receiver.take(data(2))
    assert told(receiver) == [(2, 3), (2, 3)]


def test_what_was_sent_before_something_that_came_in_order_is_outdated_even_if_it_is_missing(
    receiver: TunedReceiver,
) -> None:
    receiver.hear(data(0, at_s=1.010))
    receiver.take(data(0, at_s=1.010))
    assert receiver.is_outdated(data(1, at_s=1.0))
    assert not receiver.is_outdated(data(1, at_s=1.009))


class Flight(NamedTuple):
    board: Scoreboard
    sent: list[Sent]

    def hear(self, ack: int, *blocks: tuple[int, int], at_s: float, trip: RoundTrip = USUAL) -> Heard:
        sacks = tuple((SIZE * start, SIZE * end) for start, end in blocks)
        segment = Segment(FAR, NEAR, ACK, 0, b"", SIZE * ack, 2**20, sacks)
        before = self.sent[0].seq if self.sent else SIZE * ack
        return self.board.hear(segment, before, 0, 0, trip, at_s)

    def again(self, number: int, at_s: float) -> None:
        one = next(sent for sent in self.sent if sent.seq == SIZE * number)
        one.at, one.again = at_s, True
        self.board.turn += 1
        self.board.note_sent(one)
        self.board.resent_ever += 1
        self.board.sent_again(one)

    def new(self, at_s: float) -> None:
        self.board.turn += 1
        self.sent.append(Sent(self.sent[-1].end, bytes(SIZE), at_s, fin=False))
        self.board.note_sent(self.sent[-1])

    def lost(self) -> list[int]:
        return [sent.seq // SIZE for sent in self.sent if sent.lost]


def flight(times_s: Sequence[float]) -> Flight:
    sent = [Sent(SIZE * number, bytes(SIZE), at_s, fin=False) for number, at_s in enumerate(times_s)]
    board = Scoreboard(sent, SIZE)
    for each in sent:
        board.note_sent(each)
    return Flight(board, sent)


def test_all_gaps_before_three_that_have_arrived_are_lost_at_once() -> None:
    made = flight([0.0] * 8)
    made.hear(0, (3, 5), at_s=0.1, trip=SLOW)
    assert made.board.find_losses(SLOW, 0.1, recovering=False) == pytest.approx(0.025, abs=1e-4)
    assert made.lost() == []
    made.hear(0, (6, 7), (3, 5), at_s=0.1, trip=SLOW)
    assert made.board.find_losses(SLOW, 0.1, recovering=False) == 0.0
    assert made.lost() == [0, 1, 2, 5]
    assert made.board.out == 8 - 3 - 4


def test_once_a_segment_was_seen_to_be_late_a_quarter_of_a_round_trip_is_waited() -> None:
    made = flight([0.0] * 8)
    made.hear(0, (3, 6), at_s=0.1, trip=SLOW)
    made.hear(2, (3, 6), at_s=0.11, trip=SLOW)
    assert made.board.find_losses(SLOW, 0.11, recovering=False) > 0
    assert made.lost() == []
    made.board.mark_losses(SLOW, 0.14, recovering=False)
    assert made.lost() == [2]


def test_one_that_was_sent_again_is_lost_again_only_where_a_later_one_has_arrived() -> None:
    made = flight([0.0] * 6)
    made.hear(0, (1, 4), at_s=0.1)
    made.board.find_losses(USUAL, 0.1, recovering=False)
    assert made.lost() == [0]
    made.again(0, at_s=0.1)
    made.hear(0, (1, 6), at_s=0.2)
    made.board.find_losses(USUAL, 0.2, recovering=True)
    assert made.board.resent == 1
    made.new(at_s=0.3)
    made.hear(0, (1, 7), at_s=0.4)
    made.board.find_losses(USUAL, 0.4, recovering=True)
    assert (made.board.lost, made.board.resent) == (1, 0)


def test_what_came_twice_was_sent_again_in_vain() -> None:
    made = flight([0.0] * 4)
    made.again(0, at_s=0.1)
    made.hear(1, at_s=0.2)
    heard = made.hear(1, (0, 1), at_s=0.3)
    assert (heard.twice, heard.in_vain) == (1, [SIZE])
