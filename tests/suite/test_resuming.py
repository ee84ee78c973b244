"""Protects the second half of an interrupted suite: the same runs, each counted once, and no mixing of old and new."""

from dataclasses import replace
from pathlib import Path

import pytest
from suite_samples import ScriptedEnvironment, Seen, judge_by_hand, manifest, plans_of, story_of_error, write_scenario

from harness.judging import judge
from harness.records.reader import Results, read
from harness.records.writer import Writer
from harness.story import LabError, lost_story
from harness.suite.one_run import carry_out
from harness.suite.resuming import CannotResume, Remaining, plans_with_id_prefix, remaining, short_id
from harness.suite.runner import Runner


def begun(folder: Path, path: Path, *, ended: int, noisy: bool = False) -> Results:
    """A suite of which so many runs have ended."""
    plans = plans_of(path)
    with Writer.create(folder, manifest(plans)) as writer:
        for plan in plans[:ended]:
            result = carry_out(plan, ScriptedEnvironment(story_of_error), judge_by_hand(lambda plan: noisy))
            writer.write_lines(result.record, result.events)
    results = read(folder)
    assert_each_try_is_there_once(results)
    return results


def assert_each_try_is_there_once(results: Results) -> None:
    """A reader takes only one of two records of a run, and so would hide a second one."""
    tries = [(run.run_id, run.attempt) for run in results.tries]
    assert len(tries) == len(set(tries)), tries


def test_what_has_no_record_remains(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "s", repeat=5)
    results = begun(tmp_path / "r", path, ended=2)
    assert remaining(results, plans_of(path)) == Remaining(plans_of(path)[2:])


def test_what_the_lab_itself_lost_is_made_again_beside_the_others_and_a_subject_that_failed_is_not(
    tmp_path: Path,
) -> None:
    path = write_scenario(tmp_path / "s", repeat=3)
    plans = plans_of(path)
    with Writer.create(tmp_path / "r", manifest(plans)) as writer:
        for plan, blame in zip(plans, ("lab", "subject"), strict=False):
            error = LabError(code="lost", text="gone", blame=blame)
            lost = ScriptedEnvironment(lambda plan, error=error: lost_story(plan.run_id, plan.attempt, error))
            result = carry_out(plan, lost, judge)
            writer.write_lines(result.record, result.events)
    again = remaining(read(tmp_path / "r"), plans)
    assert again == Remaining((replace(plans[0], attempt=2), plans[2]))
    writer, results = Writer.reopen(tmp_path / "r")
    with writer:
        writer.cut_unfinished(results)
        Runner(ScriptedEnvironment(story_of_error), judge_by_hand(), writer, Seen()).run(again.unknown)
    runs = read(tmp_path / "r").runs
    assert [(run.attempt, run.verdict) for run in runs] == [(2, "pass"), (1, "lab_error"), (1, "pass")]


def test_a_noisy_try_goes_on_with_the_next_one_until_the_third(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "s", repeat=2)
    results = begun(tmp_path / "r", path, ended=1, noisy=True)
    (second,), (first,) = remaining(results, plans_of(path))
    assert (first.run_id, first.attempt) == (plans_of(path)[0].run_id, 2)
    assert second.attempt == 1
    writer, results = Writer.reopen(tmp_path / "r")
    with writer:
        writer.cut_unfinished(results)
        Runner(ScriptedEnvironment(story_of_error), judge_by_hand(lambda plan: True), writer, Seen()).run(
            [second], retries=[first]
        )
    again = read(tmp_path / "r")
    assert_each_try_is_there_once(again)
    assert [run.attempt for run in again.runs] == [3, 3]
    assert remaining(again, plans_of(path)) == Remaining(())


def test_a_changed_scenario_is_refused_by_name_and_a_comment_is_no_change(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "s", repeat=3)
    results = begun(tmp_path / "r", path, ended=1)
    path.write_text("# why\n" + path.read_text())
    assert len(remaining(results, plans_of(path)).unknown) == 2
    write_scenario(tmp_path / "s", repeat=3, formula="2*Net.ReadTimeout")
    with pytest.raises(CannotResume, match=r"dark changed since .*: 3 of its 3 runs are no more; undo the change"):
        remaining(results, plans_of(path))


def test_runs_are_named_by_the_shortest_beginning_that_is_theirs(tmp_path: Path) -> None:
    ids = ["7f3a00000000", "7f3b00000000", "7f3bc0000000", "111100000000"]
    assert [short_id(i, ids) for i in ids] == ["7f3a", "7f3b0", "7f3bc", "1111"]
    plans = plans_of(write_scenario(tmp_path, repeat=3))
    assert plans_with_id_prefix(plans, plans[1].run_id.upper()[:6]) == (plans[1],)
