"""Protects how runs are carried out: side by side, longest first, noisy ones again beside few and then alone, and
nothing that was measured lost to an interruption, a full disk or a bug."""

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from suite_samples import ScriptedEnvironment, Seen, judge_by_hand, manifest, plans_of, story_of_error, write_scenario

from harness.plan import RunPlan
from harness.records.folder import ResultsUnwritable
from harness.records.reader import read
from harness.records.run import RunRecord
from harness.records.writer import Writer
from harness.story import Story
from harness.suite.runner import Runner, longest_first


@pytest.fixture
def plans(tmp_path: Path) -> tuple[RunPlan, ...]:
    return plans_of(write_scenario(tmp_path / "scenarios", repeat=12))


def test_lanes_are_used_and_never_exceeded(plans: tuple[RunPlan, ...], tmp_path: Path) -> None:
    together = threading.Barrier(3, timeout=20)

    def run(plan: RunPlan) -> Story:
        together.wait()  # passes only if three are under way at once
        return story_of_error(plan)

    world, seen = ScriptedEnvironment(run, lanes=8), Seen()
    with Writer.create(tmp_path / "r", manifest(plans)) as writer:
        assert Runner(world, judge_by_hand(), writer, seen, lanes=3).run(plans)
    assert world.most_at_once == 3
    assert sorted(seen.ended_runs) == sorted((plan.run_id, 1) for plan in plans)
    assert world.interruptions == 0
    assert {run.run_id for run in read(tmp_path / "r").runs} == {plan.run_id for plan in plans}


def test_longest_first_and_unknown_lengths_before_all(plans: tuple[RunPlan, ...]) -> None:
    lengths = [3.0, 45.0, None, 8.0]
    mixed = [replace(plan, expected_s=length) for plan, length in zip(plans, lengths, strict=False)]
    assert [plan.expected_s for plan in longest_first(mixed)] == [None, 45.0, 8.0, 3.0]


def test_noisy_runs_are_tried_again_beside_few_then_alone(plans: tuple[RunPlan, ...], tmp_path: Path) -> None:
    """Three runs are noisy for ever, one until its second try: the last try counts, the others stay in the file."""
    for_ever, once = {plan.run_id for plan in plans[:3]}, plans[5].run_id
    beside: dict[int, list[int]] = {2: [], 3: []}

    def run(plan: RunPlan) -> Story:
        if plan.attempt > 1:
            time.sleep(0.1)
            beside[plan.attempt].append(world.under_way)
        return story_of_error(plan)

    world, seen = ScriptedEnvironment(run, lanes=16), Seen()
    noisy = judge_by_hand(lambda plan: plan.run_id in for_ever or (plan.run_id == once and plan.attempt == 1))
    with Writer.create(tmp_path / "r", manifest(plans)) as writer:
        assert Runner(world, noisy, writer, seen).run(plans)
    results = read(tmp_path / "r")
    counted = {run.run_id: (run.attempt, run.verdict) for run in results.runs}
    assert {counted[run_id] for run_id in for_ever} == {(3, "inconclusive")}
    assert counted[once] == (2, "pass")
    assert sum(attempt == 1 for attempt, _ in counted.values()) == len(plans) - 4
    assert len(results.tries) == len(plans) + 4 + 3
    assert max(beside[2]) == 2, "an eighth of the lanes"
    assert beside[3] == [1, 1, 1]
    assert [plan.attempt for plan in world.order] == sorted(plan.attempt for plan in world.order)


def test_a_signal_ends_the_suite_and_keeps_what_was_measured(plans: tuple[RunPlan, ...], tmp_path: Path) -> None:
    ended = threading.Semaphore(0)

    def run(plan: RunPlan) -> Story:
        if len(world.order) <= 3:
            return story_of_error(plan)
        if len(world.order) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        assert world.interrupted.wait(20), "the runs were not interrupted"
        ended.release()
        return story_of_error(plan)

    world, seen = ScriptedEnvironment(run, lanes=2), Seen()
    before = signal.getsignal(signal.SIGINT)
    with Writer.create(tmp_path / "r", manifest(plans)) as writer:
        assert Runner(world, judge_by_hand(), writer, seen).run(plans) is False
    assert signal.getsignal(signal.SIGINT) is before
    assert (seen.stops, world.interruptions) == (1, 1)
    results = read(tmp_path / "r")
    assert {run.run_id for run in results.runs} == {plan.run_id for plan in world.order[:3]}
    assert len(results.missing) == len(plans) - 3


def test_a_signal_that_was_ignored_at_the_start_stays_so(plans: tuple[RunPlan, ...], tmp_path: Path) -> None:
    """nohup ignores hang-ups for what it starts."""

    def run(plan: RunPlan) -> Story:
        os.kill(os.getpid(), signal.SIGHUP)
        return story_of_error(plan)

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Writer.create(tmp_path / "r", manifest(plans)) as writer:
            assert Runner(ScriptedEnvironment(run), judge_by_hand(), writer, Seen()).run(plans)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_comes_before_the_runs_that_ended_until_then(plans: tuple[RunPlan, ...], tmp_path: Path) -> None:
    """To show a run may take long: a suite that was stopped would go on until all that have ended are shown."""
    seen_at_stop: list[int] = []

    class SlowObserver(Seen):
        def ended(self, plan: RunPlan, record: RunRecord) -> None:
            super().ended(plan, record)
            if len(self.ended_runs) == 1:
                limit_s = time.monotonic() + 60
                while len(read(tmp_path / "r").tries) < len(plans) and time.monotonic() < limit_s:
                    time.sleep(0.01)
                os.kill(os.getpid(), signal.SIGTERM)

        def stopping(self) -> None:
            super().stopping()
            seen_at_stop.append(len(self.ended_runs))

    world, seen = ScriptedEnvironment(story_of_error, lanes=4), SlowObserver()
    with Writer.create(tmp_path / "r", manifest(plans)) as writer:
        Runner(world, judge_by_hand(), writer, seen).run(plans)
    assert seen_at_stop == [1]
    assert len(seen.ended_runs) == len(plans), "they are measured all the same"


def test_a_second_signal_ends_the_process_at_once(plans: tuple[RunPlan, ...], tmp_path: Path) -> None:
    """Even if interrupting hangs: a child that would wait for ever is gone with 130."""
    child = os.fork()
    if child == 0:
        try:

            def run(plan: RunPlan) -> Story:
                os.kill(os.getpid(), signal.SIGINT)
                while True:
                    time.sleep(0.05)
                    if world.interrupted.is_set():
                        os.kill(os.getpid(), signal.SIGINT)

            world = ScriptedEnvironment(run, lanes=1)
            with Writer.create(tmp_path / "r", manifest(plans)) as writer:
                Runner(world, judge_by_hand(), writer, Seen()).run(plans)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 130


def test_a_bug_in_one_run_is_that_run_s_lab_error_with_details(plans: tuple[RunPlan, ...], tmp_path: Path) -> None:
    def run(plan: RunPlan) -> Story:
        if plan is plans[1]:
            raise ZeroDivisionError("by hand")
        return story_of_error(plan)

    with Writer.create(tmp_path / "r", manifest(plans)) as writer:
        assert Runner(ScriptedEnvironment(run), judge_by_hand(), writer, Seen()).run(plans)
    records = {run.run_id: run for run in read(tmp_path / "r").runs}
    assert len(records) == len(plans)
    broken = records[plans[1].run_id]
    assert broken.verdict == "lab_error"
    assert broken.error is not None
    assert broken.error.code == "internal_error"
    details = tmp_path / "r" / "logs" / plans[1].run_id / "internal-error.txt"
    assert str(details) in broken.error.text
    assert "ZeroDivisionError: by hand" in details.read_text()


class FullDisk:
    """A RunWriter for which there is no room."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write_lines(self, run: RunRecord, events: bytes) -> None:
        raise ResultsUnwritable("No space left on device", "make room")

    def create_log_folder(self, run_id: str, attempt: int) -> Path:
        return self._folder

    def remove_empty_logs(self, run_id: str, attempt: int) -> None: ...


def test_a_full_disk_ends_the_suite_and_interrupts_the_other_runs(plans: tuple[RunPlan, ...], tmp_path: Path) -> None:
    world = ScriptedEnvironment(story_of_error, lanes=2)
    with pytest.raises(ResultsUnwritable, match="No space left"):
        Runner(world, judge_by_hand(), FullDisk(tmp_path), Seen()).run(plans)
    assert world.interrupted.is_set()
    assert len(world.order) <= world.lanes
