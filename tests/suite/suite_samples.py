"""Scenario files, plans and an environment scripted by hand, for what the suite does around runs."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Self

from harness.environments.world import ProgressCallback, RunInterrupted, Supported, Unsupported
from harness.judging import Judgement
from harness.language import load, plans
from harness.levers import Lever
from harness.plan import RunPlan
from harness.records.manifest import Manifest
from harness.records.run import RunRecord
from harness.story import Kernel, Noise, OperationStory, Outcome, Story

TEXT = """\
format: 1
scenario: {name}
about: A port goes dark.
tags: [{tags}]
client: {{profile: sarama, version: 1.27.2}}
settings: {{Net.ReadTimeout: 2s}}
cluster: {{brokers: 1, topics: [{{name: orders}}]}}
steps:
  - {{do: connect}}
  - {{inject: blackhole, brokers: all, as: outage}}
  - {{do: send, as: probe, give_up_after: 60s}}
expect:
  - {{measure: probe.time_to_error, equals: {formula}, within: 1% + 50ms, when: "Producer.Retry.Max == 0"}}
matrix: {{settings.Producer.Retry.Max: [0]}}
repeat: {repeat}
"""


def write_scenario(
    folder: Path, name: str = "dark", *, tags: str = "sarama", repeat: int = 1, formula: str = "Net.ReadTimeout"
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.scenario.yaml"
    path.write_text(TEXT.format(name=name, tags=tags, repeat=repeat, formula=formula))
    return path


def plans_of(path: Path, *, environment: str = "local") -> tuple[RunPlan, ...]:
    return plans(load(path), environment=environment, seed=7)


def manifest(made: tuple[RunPlan, ...]) -> Manifest:
    return Manifest(
        suite="s",
        faultlab="0",
        environment="local",
        seed=7,
        arguments=(),
        folder="/",
        started_at="",
        run_ids=tuple(plan.run_id for plan in made),
        machine="",
    )


def story_of_error(plan: RunPlan, *, after_s: float = 2.0) -> Story:
    """The probe failed after so many seconds; nothing else happened."""
    probe = OperationStory(
        alias="probe",
        operation="send",
        started_ns=0,
        ended_ns=round(after_s * 1e9),
        outcome=Outcome.FAILED,
        error="dark",
    )
    return Story(
        run_id=plan.run_id,
        attempt=plan.attempt,
        origin_ns=0,
        ready_s=0.1,
        ended_ns=probe.ended_ns,
        operations=(probe,),
        faults=(),
        events=(),
        noise=Noise(loop_lag_p99_s=0.0, loop_lag_max_s=0.0, samples=1),
        kernel=Kernel(release="by hand", hz=250),
    )


class ScriptedEnvironment:
    """An Environment whose runs do what a test says. Counts how many are under way at once."""

    name = "local"
    virtual_time = False
    keeps_logs = True

    def __init__(self, run: Callable[[RunPlan], Story], *, lanes: int = 4) -> None:
        self.lanes = lanes
        self.order: list[RunPlan] = []
        self.most_at_once = 0
        self.under_way = 0
        self.interrupted = threading.Event()
        self.interruptions = 0
        self._run = run
        self._lock = threading.Lock()

    def supports(self, lever: Lever, cluster: str) -> Supported | Unsupported:
        return Supported()

    def supports_cluster(self, kind: str) -> Supported | Unsupported:
        return Supported()

    def supports_driver(self, driver: Literal["bundled", "exec"]) -> Supported | Unsupported:
        return Supported()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.interrupt()

    def interrupt(self) -> None:
        self.interruptions += 1
        self.interrupted.set()

    def run(self, plan: RunPlan, progress: ProgressCallback, logs: Path | None) -> Story:
        with self._lock:
            self.order.append(plan)
            self.under_way += 1
            self.most_at_once = max(self.most_at_once, self.under_way)
        progress("by hand")
        try:
            story = self._run(plan)
            if self.interrupted.is_set():
                raise RunInterrupted
            return story
        finally:
            with self._lock:
                self.under_way -= 1


def judge_by_hand(noisy: Callable[[RunPlan], bool] = lambda plan: False) -> Callable[[RunPlan, Story], Judgement]:
    """Passes what is not noisy, as `harness.judging.judge` does, without looking at formulas."""

    def judge(plan: RunPlan, story: Story) -> Judgement:
        verdict: Literal["pass", "inconclusive", "lab_error"] = "pass"
        if story.error is not None:
            verdict = "lab_error"
        elif noisy(plan):
            verdict = "inconclusive"
        return Judgement(verdict=verdict, reasons=(), measures=(), judged=(), noisy=verdict == "inconclusive")

    return judge


class Seen:
    """An Observer that remembers."""

    def __init__(self) -> None:
        self.ended_runs: list[tuple[str, int]] = []
        self.stops = 0
        self.words: list[str] = []

    def started(self, plan: RunPlan) -> None: ...

    def doing(self, plan: RunPlan, words: str) -> None:
        self.words.append(words)

    def ended(self, plan: RunPlan, record: RunRecord) -> None:
        self.ended_runs.append((plan.run_id, plan.attempt))

    def stopping(self) -> None:
        self.stops += 1
