"""How late the lab was during the wait that a measure spans: what each process on its way lost, and the lab's steps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.measures import Missing, RunView
from harness.operations import delivers
from harness.plan import PlannedOperation
from harness.story import FaultStory, OperationStory

LAB = "the lab"
"""Between the steps: an operation that ends is answered by the next step, late by what the lab loses."""

TIMERS = "the lab's timers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """Seconds by who lost them. A time that was measured is too long by their sum at most, and too short by none."""

    lost_s: Mapping[str, float]

    @property
    def total_s(self) -> float:
        return sum(self.lost_s.values())

    def sentence(self) -> str:
        """`broker 1 by 12.0 ms, the client by 3.1 ms`, the most first."""
        most = sorted(self.lost_s.items(), key=lambda item: -item[1])
        return ", ".join(f"{who} by {lost_s * 1e3:.1f} ms" for who, lost_s in most if lost_s >= _SHOWN_S)


_SHOWN_S = 0.0005
NONE = Lateness(lost_s={})


def lateness(run: RunView, alias: str) -> Lateness:
    """That of the measures of an operation or a fault, or of the whole run; none where time is virtual."""
    if not run.story.noise.delays and run.story.noise.loop_lag_p99_s == 0:
        return NONE
    fault = run.fault(alias)
    if isinstance(fault, FaultStory):
        return _lateness(run, fault.began_ns, _recovered_ns(run), fault)
    operation = run.operation(alias)
    if isinstance(operation, Missing):
        return _lateness(run, 0, run.story.ended_ns, None)
    return _lateness(run, operation.started_ns, operation.ended_ns, None)


def _lateness(run: RunView, began_ns: int, ended_ns: int, fault: FaultStory | None) -> Lateness:
    samples = run.story.noise.delays
    if not samples:
        return _by_timers(run, began_ns, ended_ns)
    first = max((s for s in samples if s.at_ns <= began_ns), key=lambda s: s.at_ns, default=samples[0])
    last = min((s for s in samples if s.at_ns >= ended_ns), key=lambda s: s.at_ns, default=samples[-1])
    lost_s = {who: late_s - first.delayed_s.get(who, 0.0) for who, late_s in last.delayed_s.items()}
    if fault is not None:
        lost_s[LAB] = sum(_between_steps_s(run, fault.confirmed_ns, ended_ns))
    return Lateness(lost_s=lost_s)


def _by_timers(run: RunView, began_ns: int, ended_ns: int) -> Lateness:
    """In a world that counts no delays: each wait that ran out may have come as late as the lab's timers did."""
    late_s = run.story.noise.loop_lag_p99_s
    within = [one for one in run.story.operations if began_ns <= one.ended_ns <= ended_ns]
    elapsed = sum(wait.outcome == "elapsed" for operation in within for wait in run.during(operation).waits)
    return Lateness(lost_s={TIMERS: (elapsed + 1) * late_s}) if late_s > 0 else NONE


def _recovered_ns(run: RunView) -> int:
    """When the last message was answered."""
    sends = [one.ended_ns for one in run.story.operations if delivers(one.operation)]
    return max(sends, default=run.story.ended_ns)


def _between_steps_s(run: RunView, began_ns: int, ended_ns: int) -> Iterator[float]:
    """How late each operation was called: after the end of what it follows, or after the lab wanted to call it."""
    at_once = {step.alias for step in run.plan.steps if isinstance(step, PlannedOperation) and step.when.after_s == 0}
    free_ns = began_ns
    inside = [one for one in run.story.operations if began_ns <= one.started_ns <= ended_ns]
    for operation in sorted(inside, key=_start):
        wanted_ns = free_ns if operation.alias in at_once else operation.asked_ns
        if wanted_ns is not None:
            yield max(0, operation.started_ns - wanted_ns) / 1e9
        free_ns = max(free_ns, operation.ended_ns)


def _start(operation: OperationStory) -> int:
    return operation.started_ns
