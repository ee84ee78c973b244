"""Protects that a run can be carried out anywhere: here, and in a process that shares nothing with this one."""

import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from suite_samples import ScriptedEnvironment, judge_by_hand, plans_of, story_of_error, write_scenario

from harness.conductor import conduct
from harness.environments.sim.environment import SimEnvironment
from harness.environments.world import EnvironmentUnavailable, RunInterrupted
from harness.judging import judge
from harness.plan import RunPlan
from harness.story import Story
from harness.suite.one_run import carry_out


@pytest.fixture
def plan(tmp_path: Path) -> RunPlan:
    return plans_of(write_scenario(tmp_path / "scenarios"), environment="sim")[0]


def raising(error: Exception) -> Callable[[RunPlan], Story]:
    def run(plan: RunPlan) -> Story:
        raise error

    return run


def test_another_process_comes_to_the_same_record_and_events(plan: RunPlan) -> None:
    sim = SimEnvironment(conduct)
    here = carry_out(plan, sim, judge)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = pool.submit(carry_out, plan, sim, judge).result()
    measured_by_the_clock = {"started_at", "duration_s"}
    assert there.record.model_dump(exclude=measured_by_the_clock) == here.record.model_dump(
        exclude=measured_by_the_clock
    )
    assert there.record.error is None
    assert there.events == here.events
    assert here.events.count(b"\n") > 20


def test_an_interrupted_simulation_is_usable_again_where_it_was_sent_to(plan: RunPlan) -> None:
    with SimEnvironment(conduct) as sim:
        sent = pickle.loads(pickle.dumps(sim))
    with pytest.raises(RunInterrupted):
        carry_out(plan, sim, judge)
    assert carry_out(plan, sent, judge).record.error is None


def test_an_environment_that_breaks_is_the_runs_lab_error(plan: RunPlan, tmp_path: Path) -> None:
    unavailable = ScriptedEnvironment(raising(EnvironmentUnavailable("no namespaces", "use sim")))
    error = carry_out(plan, unavailable, judge_by_hand()).record.error
    assert error is not None
    assert (error.code, error.text, error.blame) == ("environment_unavailable", "no namespaces; use sim", "lab")
    broken = ScriptedEnvironment(raising(ZeroDivisionError("by hand")))
    error = carry_out(plan, broken, judge_by_hand()).record.error
    assert error is not None
    assert (error.code, error.text) == ("internal_error", "faultlab itself failed (ZeroDivisionError: by hand)")
    error = carry_out(plan, broken, judge_by_hand(), make_log_folder=lambda plan: tmp_path).record.error
    assert error is not None
    assert error.text.endswith(f"details in {tmp_path}/internal-error.txt")
    assert "ZeroDivisionError: by hand" in (tmp_path / "internal-error.txt").read_text()


def test_an_interrupted_run_has_no_record(plan: RunPlan) -> None:
    environment = ScriptedEnvironment(story_of_error)
    environment.interrupt()
    with pytest.raises(RunInterrupted):
        carry_out(plan, environment, judge_by_hand())


def test_a_log_folder_is_made_only_where_an_environment_keeps_logs(plan: RunPlan, tmp_path: Path) -> None:
    made: list[Path] = []

    def make_log_folder(plan: RunPlan) -> Path:
        made.append(tmp_path)
        return tmp_path

    environment = ScriptedEnvironment(story_of_error)
    carry_out(plan, environment, judge_by_hand(), make_log_folder=make_log_folder)
    assert made == [tmp_path]
    environment.keeps_logs = False
    carry_out(plan, environment, judge_by_hand(), make_log_folder=make_log_folder)
    assert made == [tmp_path]
