"""Protects what pictures say: places on the axis, letters, strips, and waits that add up to the call."""

import random

import pytest

from bench.inputs.synthetic_suite import SyntheticBlackhole, SyntheticTrace
from reports.charts.axis import Axis
from reports.charts.badges import badges
from reports.charts.spans import covered_s, operation_spans
from reports.charts.strip import EDGE, MIDDLE, REACH, overview_of, strip_of
from reports.charts.timeline import (
    ANSWERS,
    BETWEEN_DIALS,
    BETWEEN_SEEN,
    CLIENT_ITSELF,
    NOT_RECORDED,
    ON_THE_WIRE,
    Timeline,
    timeline_of,
    with_page_badges,
)


def row(
    times: list[float], *, kind: str = "equals", unended: tuple[float, ...] = (), **other: object
) -> dict[str, object]:
    pairs = [{"time": time, "unended": time in unended} for time in times]
    return {"predicted": 8.85, "low": 8.75, "high": 8.95, "unit": "s", "kind": kind, "pairs": pairs, **other}


def drawn(cell: SyntheticBlackhole, repeat: int = 1) -> Timeline:
    run, events = cell.run(repeat)
    record = run.model_dump()
    return timeline_of(record, record["expectations"][0], [event.model_dump() for event in events])


@pytest.mark.parametrize("last_s", [0.004, 0.75, 2.0, 8.85, 126.85, 3600.0])
def test_ticks_are_round_few_and_inside(last_s: float) -> None:
    ticks = Axis.around(-0.004, last_s).ticks
    assert 3 <= len(ticks) <= 7
    assert ticks[0][1].strip("0.") == ""
    assert all(0 <= at <= 100 for at, _ in ticks)
    assert len({label for _, label in ticks}) == len(ticks)


def test_letters_are_unique_and_tell_settings_apart() -> None:
    names = [
        "Net.ReadTimeout",
        "Net.DialTimeout",
        "Producer.Retry.Backoff",
        "Metadata.Retry.Backoff",
        "request.timeout.ms",
    ]
    assert [badge.letter for badge in badges(names).values()] == ["R", "D", "P", "M", "T"]
    assert [badge.letter for badge in badges(["message.timeout.ms", "socket.timeout.ms"]).values()] == ["M", "S"]
    many = badges(f"a.setting{number}" for number in range(20))
    assert len({badge.letter for badge in many.values()}) == 20


def test_a_setting_has_one_colour_whatever_else_is_on_the_page() -> None:
    settings = ["Net.ReadTimeout", "Net.DialTimeout", "Producer.Retry.Backoff", "Metadata.Retry.Backoff"]
    together = badges(settings)
    assert [badges([one])[one].style for one in settings] == [together[one].style for one in settings]
    assert len({badge.style for badge in together.values()}) == len(settings), "the usual ones differ"
    assert badges(reversed(settings)) == together, "letters too do not depend on the order"


def test_a_strip_puts_the_prediction_in_the_middle_and_the_tolerance_around_it() -> None:
    strip = strip_of(row([8.85, 8.95, 8.75]))
    assert strip is not None
    assert strip.tick == MIDDLE
    assert strip.allowed == (MIDDLE - REACH, MIDDLE + REACH)
    assert [dot.at for dot in strip.dots] == pytest.approx([MIDDLE - REACH, MIDDLE, MIDDLE + REACH])
    assert strip.words == "3 of 3 runs within the tolerance"


def test_far_runs_become_arrows_and_unended_ones_are_hollow() -> None:
    uneven = strip_of(row([8.85], low=8.80, high=8.95))
    assert uneven is not None
    assert uneven.allowed == pytest.approx((MIDDLE - REACH / 2, MIDDLE + REACH))
    strip = strip_of(row([8.85, 13.61, 60.0, 1.0], unended=(60.0,)))
    assert strip is not None
    assert len(strip.dots) == 1
    assert (strip.beyond_right, strip.unended_beyond) == ("+51.150 s", True)
    assert strip.beyond_left == "\u22127.850 s"
    assert strip.words == "1 of 4 runs within the tolerance, 1 did not end"
    near = strip_of(row([8.9], unended=(8.9,)))
    assert near is not None
    assert near.dots[0].unended


def test_bounds_have_an_open_side_and_exact_predictions_no_width() -> None:
    at_most, exact = (
        strip_of(row([1.0], kind="at_most")),
        strip_of(row([4.0], predicted=4, low=4, high=4, unit="count")),
    )
    assert at_most is not None
    assert exact is not None
    assert (at_most.allowed[0], at_most.tick) == (0.0, None)
    assert exact.allowed == (MIDDLE, MIDDLE)
    assert EDGE < exact.dots[0].at == MIDDLE


def test_nothing_measured_or_predicted_draws_nothing() -> None:
    assert strip_of(row([])) is None
    assert strip_of(row([1.0], predicted=None)) is None


def test_waits_fill_the_call() -> None:
    line = drawn(SyntheticBlackhole(brokers=3, bootstrap=3))
    assert covered_s(line.spans) == pytest.approx(line.lasted_s, abs=0.01)
    assert {row.name: row.measured_count for row in line.rows if row.measured_count is not None} == {
        "Net.ReadTimeout": 2,
        "Net.DialTimeout": 14,
        "Producer.Retry.Backoff": 1,
        "Metadata.Retry.Backoff": 3,
    }
    for term in line.rows:
        assert term.measured_s == pytest.approx(term.formula_s or 0, abs=0.03)


def test_a_lane_for_each_connection_and_one_for_the_client() -> None:
    line = drawn(SyntheticBlackhole())
    assert line.lanes[0].name == CLIENT_ITSELF
    assert [lane.name for lane in line.lanes[1:]] == [f"connection {number}" for number in (2, 1, 3, 4, 5, 6)]
    assert all(0 <= block.left <= block.left + block.width <= 100.01 for lane in line.lanes for block in lane.blocks)
    last = line.formula[-1]
    assert last.left + last.width == pytest.approx(line.axis.at(line.predicted_s or 0), abs=0.01)


def test_a_setting_has_one_letter_on_the_whole_page() -> None:
    line = drawn(SyntheticBlackhole())
    marks = badges(["X.ReadTimeout", "Other", *(badge.setting for badge in reversed(line.legend))])
    alike = with_page_badges(line, marks)
    assert [badge.letter for badge in line.legend] != [badge.letter for badge in alike.legend]
    blocks = [*alike.formula, *alike.measured, *(block for lane in alike.lanes for block in lane.blocks)]
    assert all(block.badge == marks[block.badge.setting] for block in blocks if block.badge)
    assert all(block.short.endswith(block.badge.letter) for block in [*alike.formula, *alike.measured] if block.badge)
    assert [row.badge for row in alike.rows if row.badge] == [marks[row.name] for row in alike.rows if row.badge]


def test_a_wait_without_a_term_is_outside_the_formula() -> None:
    run, events = SyntheticBlackhole().run(1)
    record = run.model_dump()
    record["expectations"][0]["terms"] = record["expectations"][0]["terms"][:1]
    line = timeline_of(record, record["expectations"][0], [event.model_dump() for event in events])
    outside = {block.badge.setting for lane in line.lanes for block in lane.blocks if block.outside and block.badge}
    assert outside == {"Net.DialTimeout", "Producer.Retry.Backoff", "Metadata.Retry.Backoff"}


def test_a_client_that_traces_dials_alone_still_has_lanes() -> None:
    trace = SyntheticTrace("x", random.Random(1))
    trace.emit("dial_started", connection=1, broker=1, address="127.0.2.1:9092")
    trace.now_ns = 10**9
    trace.emit("dial_ended", connection=1, broker=1, address="127.0.2.1:9092", outcome="timeout")
    trace.emit("dial_started", connection=2, broker=1, address="127.0.2.1:9092")
    [first, second] = operation_spans([event.model_dump() for event in trace.events], 0, 3 * 10**9)
    assert (first.setting, first.lasted_s, first.outcome) == (None, 1.0, "timeout")
    assert (second.lasted_s, second.outcome) == (2.0, None)


def test_a_real_client_is_told_by_what_the_wire_shows() -> None:
    """Nothing is guessed: its dials are drawn outside the formula, and its other time is between them."""
    trace = SyntheticTrace("x", random.Random(1))
    for connection in (7, 8):
        trace.emit("dial_started", connection=connection, address="127.0.2.1:9092")
        trace.now_ns += 10**9
        trace.emit("dial_ended", connection=connection, address="127.0.2.1:9092", outcome="timeout")
    run, _ = SyntheticBlackhole().run(1)
    record = run.model_dump()
    record["operations"][-1].update(started_ns=0, ended_ns=5 * 10**9)
    line = timeline_of(record, record["expectations"][0], [event.model_dump() for event in trace.events])
    assert line.wire_only
    assert [(lane.detail, lane.blocks[0].short, lane.blocks[0].outside) for lane in line.lanes] == [
        ("127.0.2.1:9092", "dial", True),
        ("127.0.2.1:9092", "dial", True),
    ]
    assert [block.short for block in line.measured] == ["2 dials", BETWEEN_DIALS]
    assert [(row.name, row.measured_s) for row in line.rows[-2:]] == [(ON_THE_WIRE, 2.0), (BETWEEN_DIALS, 3.0)]
    assert not drawn(SyntheticBlackhole()).wire_only


def seen(trace: SyntheticTrace, purpose: str, began_s: float, ended_s: float | None, outcome: str, port: int) -> None:
    of = {"address": "127.0.2.1:9092", "connection": port, "purpose": purpose}
    for kind, at_s, more in (("wire_started", began_s, {}), ("wire_ended", ended_s, {"outcome": outcome})):
        if at_s is not None:
            trace.now_ns = round(at_s * 1e9)
            trace.emit(kind, **of, **more)


def test_a_program_that_reports_nothing_is_drawn_by_what_the_wire_shows() -> None:
    """Dials, silences and resets, each connection in a lane of its own."""
    trace = SyntheticTrace("x", random.Random(1))
    seen(trace, "dial", 0.0, 0.001, "connected", 4001)
    seen(trace, "answer", 0.01, 2.0, "reset by the broker", 4001)
    seen(trace, "reset by the broker", 2.0, 2.0, "reset by the broker", 4001)
    seen(trace, "dial", 3.0, 3.0, "no answer", 4002)
    seen(trace, "answer", 3.5, None, "", 4003)
    run, _ = SyntheticBlackhole().run(1)
    record = run.model_dump()
    record["operations"][-1].update(started_ns=0, ended_ns=5 * 10**9)
    line = timeline_of(record, record["expectations"][0], [event.model_dump() for event in trace.events])
    assert line.wire_only
    lanes = {lane.name: [block.short for block in lane.blocks] for lane in line.lanes}
    assert lanes == {
        "from port 4001": ["dial", "silence", "reset by the broker"], "from port 4002": ["dial"],
        "from port 4003": ["silence"],
    }  # fmt: skip
    measured = {row.name: (row.measured_count, row.measured_s) for row in line.rows if row.formula_s is None}
    assert measured[ANSWERS] == (2, pytest.approx(1.99 + 1.5))
    assert measured[ON_THE_WIRE][0] == 2
    assert measured[BETWEEN_SEEN][1] == pytest.approx(5 - 1.99 - 1.5 - 0.001)
    seen(trace, "answer", 0.0, 4.0, "first bytes", 9)
    trace.emit("wait_started", waiting_on="Net.ReadTimeout", purpose="response", connection=1)
    told = timeline_of(record, record["expectations"][0], [event.model_dump() for event in trace.events])
    assert not told.wire_only, "what the client says itself says more"
    assert all(span.setting for span in told.spans)


def test_a_client_that_traces_nothing_has_time_between_waits_only() -> None:
    run, _ = SyntheticBlackhole().run(1)
    record = run.model_dump()
    line = timeline_of(record, record["expectations"][0], [])
    assert line.lanes == ()
    assert line.rows[-1].name == NOT_RECORDED
    assert line.rows[-1].measured_s == pytest.approx(line.lasted_s)


def test_a_scenario_s_strip_shows_what_misses_a_bound_beside_what_holds_exactly() -> None:
    """Of a bound that holds nothing is drawn: the run lies anywhere below it."""
    exact, held, missed, far = (
        strip_of(row([8.85])),
        strip_of(row([2.0], kind="at_most", low=None)),
        strip_of(row([9.4], kind="at_most", low=None)),
        strip_of(row([90.0], kind="at_most", low=None)),
    )
    assert exact is not None
    assert held is not None
    assert missed is not None
    assert far is not None
    alone = overview_of([exact, held])
    assert alone is not None
    assert [dot.at for dot in alone.dots] == [MIDDLE]
    told = overview_of([exact, held, missed, far])
    assert told is not None
    assert [dot.at > MIDDLE for dot in told.dots] == [False, True]
    assert told.beyond_right == "1"


def test_a_bound_that_names_no_setting_leaves_no_wait_outside_of_it() -> None:
    run, events = SyntheticBlackhole().run(1)
    record = run.model_dump()
    term = {"text": "3s", "setting": None, "count": 1.0, "each": 3.0, "total": 3.0}
    bound = {**record["expectations"][0], "kind": "at_most", "predicted": 3.0, "terms": [term]}
    line = timeline_of(record, bound, [event.model_dump() for event in events])
    assert not any(block.outside for lane in line.lanes for block in lane.blocks)
    assert (line.formula, line.by_formula) == ((), False), "a limit is no term"
    assert "3s" not in [one.name for one in line.rows]
    seconds = [one.measured_s or 0.0 for one in line.rows]
    assert seconds == sorted(seconds, reverse=True), "the setting that took most of the time first"
    assert line.mark == pytest.approx(line.axis.at(3.0))
    wide = timeline_of(record, {**bound, "predicted": 500.0}, [event.model_dump() for event in events])
    assert wide.mark is None, "a limit that nobody comes near to would squeeze the picture"
    assert wide.axis.end_s < 2 * line.lasted_s


def test_a_limit_is_a_bracket_and_no_band() -> None:
    at_most = strip_of(row([9.4], kind="at_most", low=None, high=8.85))
    at_least = strip_of(row([9.4], kind="at_least", low=8.85, high=None))
    assert at_most is not None
    assert at_least is not None
    for one, allowed in ((at_most, (0.0, MIDDLE)), (at_least, (MIDDLE, 100.0))):
        assert one.tick is None
        assert one.allowed == pytest.approx(allowed)
        assert 'class="band"' not in one.svg
        assert one.svg.count('class="tick"') == 1
    together = overview_of([at_most, at_most])
    assert together is not None
    assert 'class="band"' not in together.svg
    exact = strip_of(row([8.85]))
    assert exact is not None
    assert 'class="band"' in exact.svg
