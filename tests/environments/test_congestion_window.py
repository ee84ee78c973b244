"""Protects the congestion window of simulated TCP: the figures are those that Linux's rules for Reno give."""

from collections.abc import Callable

import pytest

from harness.environments.sim.congestion import INITIAL, CongestionWindow

NOW_S, TIMEOUT_S = 100.0, 0.4


class Path:
    """A window whose sender sends full windows, round trip by round trip."""

    def __init__(self) -> None:
        self.window = CongestionWindow(NOW_S)
        self.acknowledged = self.next_seq = 0
        self.now_s = NOW_S

    def round_trip(self, segments: int | None = None, *, pause_s: float = 0.1) -> int:
        """Send so many segments, or as many as the window takes, and have them acknowledged. Returns its new size."""
        sent = self.window.size if segments is None else segments
        self.next_seq += sent
        self.window.sent(
            sent,
            self.acknowledged,
            self.next_seq,
            limited=sent >= self.window.size,
            timeout_s=TIMEOUT_S,
            now_s=self.now_s,
        )
        self.now_s += pause_s
        self.acknowledged = self.next_seq
        self.window.acknowledged(sent)
        return self.window.size


def test_slow_start_doubles_from_ten_segments() -> None:
    path = Path()
    assert path.window.size == INITIAL == 10
    assert [path.round_trip() for _ in range(4)] == [20, 40, 80, 160]


def test_a_sender_that_has_less_to_send_lets_it_grow_to_twice_of_that() -> None:
    path = Path()
    assert [path.round_trip(segments) for segments in (4, 4, 7, 7, 7)] == [10, 10, 17, 17, 17]


def timed_out(path: Path) -> None:
    path.window.lose_all()
    path.window.time_out(0)


def test_a_time_out_leaves_one_segment_and_half_of_the_window_as_the_threshold() -> None:
    path = Path()
    path.round_trip()
    timed_out(path)
    assert (path.window.size, path.window.threshold) == (1, 10)
    assert [path.round_trip() for _ in range(7)] == [2, 4, 8, 10, 11, 12, 13]


def test_a_second_time_out_of_the_same_loss_does_not_halve_the_threshold_again() -> None:
    path = Path()
    path.round_trip()
    timed_out(path)
    path.window.time_out(0)
    assert path.window.threshold == 10


def test_a_loss_lets_one_be_sent_for_two_that_arrive_until_half_of_the_window_is_left() -> None:
    """Proportional rate reduction (RFC 6937), from 20 segments: 19 of them arrive."""
    path = Path()
    path.round_trip()
    path.window.begin_reduction()
    out, sent = 19, 0
    for _ in range(19):
        out -= 1
        path.window.reduce(1, out, lost=False, advanced=False)
        room = path.window.size - out
        path.window.sent_meanwhile(room)
        sent, out = sent + room, out + room
    assert (sent, out) == (10, 10)
    path.window.end_reduction(undone=False)
    assert (path.window.size, path.window.threshold) == (10, 10)
    assert path.round_trip() == 11


@pytest.mark.parametrize("lose", [timed_out, lambda path: path.window.begin_reduction()])
def test_where_nothing_was_lost_the_window_is_as_before(lose: Callable[[Path], None]) -> None:
    path = Path()
    path.round_trip()
    lose(path)
    path.window.undo()
    assert path.window.in_slow_start
    assert path.round_trip() == 40


@pytest.mark.parametrize(
    ("paused_s", "size", "threshold"),
    [(0.4, 160, 2**31 - 1), (0.5, 80, 2**31 - 1), (1.0, 40, 2**31 - 1), (1.3, 20, 2**31 - 1), (9.0, 10, 2**31 - 1)],
)
def test_a_pause_halves_the_window_for_each_time_out_that_it_lasts(paused_s: float, size: int, threshold: int) -> None:
    path = Path()
    for _ in range(4):
        path.round_trip()
    path.window.resume(paused_s, TIMEOUT_S, path.now_s)
    assert (path.window.size, path.window.threshold) == (size, threshold)


def test_a_pause_keeps_three_quarters_of_what_the_path_is_known_to_carry_as_the_threshold() -> None:
    path = Path()
    path.round_trip()
    timed_out(path)
    while path.window.size < 40:
        path.round_trip()
    path.window.resume(9.0, TIMEOUT_S, path.now_s)
    assert (path.window.size, path.window.threshold) == (10, 30)


def test_a_window_that_is_not_used_for_a_time_out_comes_halfway_down_to_what_is() -> None:
    path = Path()
    for _ in range(3):
        path.round_trip()
    assert [path.round_trip(15, pause_s=0.5) for _ in range(3)] == [80, 47, 31]
