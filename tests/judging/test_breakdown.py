"""Protects `where the time went`: the table that tells a user which wait a formula forgot."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from harness.judging import Breakdown, break_down_time
from harness.measures import Missing

TIME = "probe.time_to_error"
Make = Callable[[], Any]


def broken_down(story_builder: Any, formula: str) -> Breakdown:
    expectation = story_builder.expect(TIME, "equals", formula, within_absolute=0.05)
    found = break_down_time(story_builder.plan(), story_builder.story(), expectation)
    assert isinstance(found, Breakdown)
    return found


def test_terms_stand_beside_the_waits_that_were_made(blackholed: Make) -> None:
    found = broken_down(blackholed(), "2*Net.ReadTimeout + 2*DialTimeout + 4*Metadata.Retry.Backoff + Net.WriteTimeout")
    assert [(row.setting, row.predicted_count, row.measured_count, row.note) for row in found.rows] == [
        ("Net.ReadTimeout", 2, 2, ""), ("Net.DialTimeout", 2, 4, "2 extra"),
        ("Metadata.Retry.Backoff", 4, 3, "1 missing"), ("Net.WriteTimeout", 1, 0, "1 missing"),
    ]  # fmt: skip
    assert [row.difference_s for row in found.rows] == [pytest.approx(d, abs=1e-9) for d in (0, 2, -0.25, -3)]
    assert found.unattributed_s == pytest.approx(0.001, abs=1e-9)
    assert found.never_waited_on == ("Net.WriteTimeout",)


def test_what_no_term_predicts_has_a_row_of_its_own(blackholed: Make) -> None:
    found = broken_down(blackholed(), "2*Net.ReadTimeout")
    assert [(row.setting, row.predicted_s, row.note) for row in found.rows[1:]] == [
        ("Net.DialTimeout", 0.0, "4 extra"), ("Metadata.Retry.Backoff", 0.0, "3 extra"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "formula"), [("at_most", "5s"), ("at_most", "2*Net.ReadTimeout"), ("at_least", "99s"), ("equals", "5s")]
)
def test_what_has_no_terms_is_split_by_the_settings_that_took_the_time(
    story_builder: Any, kind: str, formula: str
) -> None:
    story_builder.begin(0.0)
    story_builder.wait(0.0, 2.0, "Net.ReadTimeout")
    story_builder.wait(2.0, 2.25, "Metadata.Retry.Backoff")
    for start in (2.25, 3.25, 4.25):
        story_builder.wait(start, start + 1, "Net.DialTimeout")
    story_builder.end(0.0, 5.25, "failed")
    expectation = story_builder.expect(TIME, kind, formula, within_absolute=0.05)
    found = break_down_time(story_builder.plan(), story_builder.story(), expectation)
    assert isinstance(found, Breakdown)
    assert (found.by_formula, found.is_limit) == (False, kind != "equals")
    assert [(row.text, row.measured_count, row.each_s) for row in found.rows] == [
        ("Net.DialTimeout", 3, 1.0), ("Net.ReadTimeout", 1, 2.0), ("Metadata.Retry.Backoff", 1, 0.25),
    ], "the most time first, and no row for the limit"  # fmt: skip
    assert sum(row.measured_s for row in found.rows) + found.unattributed_s == pytest.approx(found.measured_s)


def test_rows_and_rest_add_up_to_the_measurement(blackholed: Make) -> None:
    found = broken_down(blackholed(), "Net.ReadTimeout + 1s")
    assert sum(row.measured_s for row in found.rows) + found.unattributed_s == pytest.approx(found.measured_s)
    assert sum(row.predicted_s for row in found.rows) == pytest.approx(found.predicted_s)


def test_segments_lie_end_to_end(blackholed: Make) -> None:
    found = broken_down(blackholed(), "Net.ReadTimeout")
    edges = [(s.began_s, s.ended_s) for s in found.segments]
    assert edges[0][0] == 0
    assert edges[-1][1] == pytest.approx(found.measured_s)
    assert all(one[1] == two[0] for one, two in pairwise(edges))
    letters = "".join({None: ".", "Net.ReadTimeout": "r", "Net.DialTimeout": "d"}.get(s.setting, "b")
                      for s in found.segments)  # fmt: skip
    assert letters == ".rrdbdbdbd"


def test_overlapping_waits_count_their_time_once(story_builder: Any) -> None:
    story_builder.begin(0.0)
    story_builder.add_event(0.0, "wait_started", waiting_on="Net.ReadTimeout", connection=1)
    story_builder.wait(0.5, 1.5, "Net.DialTimeout", connection=2)
    story_builder.add_event(2.0, "wait_ended", waiting_on="Net.ReadTimeout", connection=1, outcome="elapsed")
    story_builder.end(0.0, 2.0, "failed")
    found = broken_down(story_builder, "Net.ReadTimeout")
    assert [(row.setting, row.measured_s) for row in found.rows] == [("Net.ReadTimeout", 1.0), ("Net.DialTimeout", 1.0)]
    assert found.unattributed_s == pytest.approx(0.0)


def test_a_client_without_waits_in_its_trace_cannot_be_split(story_builder: Any) -> None:
    story_builder.begin(0.0)
    story_builder.end(0.0, 2.0, "failed")
    expectation = story_builder.expect(TIME, "equals", "1s", within_absolute=0.05)
    assert break_down_time(story_builder.plan(), story_builder.story(), expectation) == Missing(
        "the client's trace has no wait_started"
    )


def test_a_count_is_not_made_of_time(blackholed: Make) -> None:
    story_builder = blackholed()
    expectation = story_builder.expect("probe.dials", "equals", "3")
    assert break_down_time(story_builder.plan(), story_builder.story(), expectation) == Missing(
        "probe.dials is no time"
    )
