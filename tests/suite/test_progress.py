"""Protects the promise of the head line and the bar: how long it takes at most, and what is under way."""

from pathlib import Path

import pytest
from suite_samples import judge_by_hand, plans_of, story_of_error, write_scenario

from harness.suite.progress import SuiteProgress, max_duration_s
from harness.suite.recording import run_record


def test_the_bound_is_that_of_the_longest_run_or_of_all_lanes_full() -> None:
    assert max_duration_s([10.0, 1.0, 1.0], lanes=16) == pytest.approx(13.0)
    assert max_duration_s([2.0] * 16, lanes=2) == pytest.approx(1.3 * 16)
    assert max_duration_s([], lanes=2) == 0.0
    assert max_duration_s([1.0, None], lanes=2) is None


def test_a_snapshot_counts_and_names_what_is_under_way(tmp_path: Path) -> None:
    plans = plans_of(write_scenario(tmp_path, repeat=4))
    progress = SuiteProgress(plans, lanes=2)
    progress.started(plans[0])
    progress.started(plans[1])
    progress.doing(plans[1], "dialling broker 2")
    story = story_of_error(plans[0])
    progress.ended(plans[0], run_record(plans[0], story, judge_by_hand()(plans[0], story), started_at="", duration_s=2))
    seen = progress.snapshot()
    assert (seen.ended, seen.total, dict(seen.verdicts)) == (1, 4, {"pass": 1})
    assert [(run.plan.run_id, run.doing) for run in seen.active_runs] == [(plans[1].run_id, "dialling broker 2")]
    assert seen.remaining_s is not None
    assert seen.remaining_s <= 1.3 * 3 * 2.0 / 2
    progress.postponed(plans[1])
    again = progress.snapshot()
    assert (again.ended, again.active_runs) == (1, ()), "a try that does not count is still to be made"
    assert again.remaining_s == pytest.approx(1.3 * 3 * 2.0 / 2)
