"""How late the lab was during the wait that a measure spans: what each process on its way lost, and the lab's steps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.measures import Missing, RunView
from harness.measures.trace import Wait
from harness.operations import delivers
from harness.plan import PlannedFault, PlannedOperation
from harness.story import FaultStory, OperationStory

LAB = "the lab"
"""Between the steps: an operation that ends is answered by the next step, late by what the lab loses."""
TIMERS = "the lab's timers"
SHOWN_S = 0.0005
"""Who lost less is not named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """A time that was measured is too long by `total_s` at most, and too short by `early_s` at most.

    `lost_s` is how long each was kept from running, in seconds. `left_s` is the part of the time in which the client
    did not wait for a limit that ran out: lateness within such a wait costs nothing, since the limit runs on.
    """

    lost_s: Mapping[str, float]
    left_s: float
    early_s: float = 0.0

    @property
    def total_s(self) -> float:
        return min(sum(self.lost_s.values()), self.left_s) if self.lost_s else 0.0

    def sentence(self) -> str:
        """`broker 1 by 12.0 ms, the client by 3.1 ms`, the most first."""
        most = sorted(self.lost_s.items(), key=lambda item: -item[1])
        return ", ".join(f"{who} by {lost_s * 1e3:.1f} ms" for who, lost_s in most if lost_s >= SHOWN_S)


NONE = Lateness(lost_s={}, left_s=0.0)


def lateness(run: RunView, alias: str) -> Lateness:
    """That of the measures of an operation or a fault, or of the whole run; none where time is virtual.

    A fault's wait is that from its injection until the last message was answered. Where the lab stamps what a subject
    says, it may be late for the beginning as for the end.
    """
    noise = run.story.noise
    if not noise.delays and noise.loop_lag_p99_s == 0:
        return NONE
    fault, operation = run.fault(alias), run.operation(alias)
    if isinstance(fault, FaultStory):
        began_ns, ended_ns = fault.confirmed_ns, _answered_ns(run)
    elif isinstance(operation, Missing):
        began_ns, ended_ns = 0, run.story.ended_ns
    else:
        began_ns, ended_ns = operation.started_ns, operation.ended_ns
    inside = [one for one in run.story.operations if began_ns <= one.started_ns and one.ended_ns <= ended_ns]
    waits = [run.during(one).waits for one in inside]
    lost_s = _lost_s(run, began_ns, ended_ns) if noise.delays else _lost_by_timers_s(run, waits)
    stamped_s = noise.loop_lag_max_s if any(one.stamped == "harness" for one in inside) else 0.0
    if stamped_s and noise.delays:
        lost_s[TIMERS] = stamped_s
    early_s = stamped_s
    if isinstance(fault, FaultStory):
        lost_s[LAB] = sum(_called_late_s(run, one, began_ns) for one in inside)
        early_s += _healing_s(fault)
    elif isinstance(operation, OperationStory):
        early_s += _called_late_s(run, operation)
    muted = _muted_spans(run)
    left_ns = ended_ns - began_ns - sum(waited_out_ns(each, muted) for each in waits)
    return Lateness(lost_s=lost_s, left_s=max(0, left_ns) / 1e9, early_s=early_s)


Span = tuple[int, int]


def waited_out_ns(waits: Sequence[Wait], muted: Sequence[Span]) -> int:
    """How long nothing was waited for but limits that had to run out, each for no longer than it is.

    A pause has to, and what waits for an answer while no broker answers. Any other wait may have run out since the
    answer was late. Waits that began before the operation are not its own.
    """
    limits, others = list[Span](), list[Span]()
    for wait in (wait for wait in waits if not wait.cut):
        silent = wait.pause or any(began <= wait.began_ns and wait.ended_ns <= ended for began, ended in muted)
        if wait.outcome == "elapsed" and silent and wait.limit_s is not None:
            limits.append((wait.began_ns, min(wait.ended_ns, wait.began_ns + round(wait.limit_s * 1e9))))
        else:
            others.append((wait.began_ns, wait.ended_ns))
    edges = sorted({edge for span in (*limits, *others) for edge in span})
    return sum(
        end - start
        for start, end in pairwise(edges)
        if any(began <= start and end <= ended for began, ended in limits)
        and not any(began <= start and end <= ended for began, ended in others)
    )


def _muted_spans(run: RunView) -> list[Span]:
    """When no broker answered, since a fault was in force."""
    mute = {step.alias for step in run.plan.steps if isinstance(step, PlannedFault) and step.fault.mutes}
    return [
        (fault.confirmed_ns, run.story.ended_ns if fault.healing_ns is None else fault.healing_ns)
        for fault in run.story.faults
        if fault.alias in mute
    ]


def _healing_s(fault: FaultStory) -> float:
    """How long before its confirmed healing a fault may have ended for the client."""
    if fault.healing_ns is None or fault.healed_ns is None:
        return 0.0
    return (fault.healed_ns - fault.healing_ns) / 1e9


def _lost_s(run: RunView, began_ns: int, ended_ns: int) -> dict[str, float]:
    """Between the last sample before and the first one after."""
    samples = run.story.noise.delays
    first = next((s for s in reversed(samples) if s.at_ns <= began_ns), samples[0])
    last = next((s for s in samples if s.at_ns >= ended_ns), samples[-1])
    return {who: lost_s - first.delayed_s.get(who, 0.0) for who, lost_s in last.delayed_s.items()}


def _lost_by_timers_s(run: RunView, waits: Sequence[Sequence[Wait]]) -> dict[str, float]:
    """In a world that counts no delays: each wait that ran out may have come as late as the lab's timers did."""
    elapsed = sum(wait.outcome == "elapsed" for each in waits for wait in each)
    return {TIMERS: (elapsed + 1) * run.story.noise.loop_lag_p99_s}


def _answered_ns(run: RunView) -> int:
    """When the last message was answered."""
    sends = [one.ended_ns for one in run.story.operations if delivers(one.operation)]
    return max(sends, default=run.story.ended_ns)


def _called_late_s(run: RunView, operation: OperationStory, since_ns: int = 0) -> float:
    """How long after the end of what it follows, or after the lab wanted to call it, an operation was called.

    What the client has counted since the end of the operation before, a pause or a deadline, is shorter by that.
    """
    step = next((step for step in run.plan.steps if step.alias == operation.alias), None)
    wanted_ns = operation.asked_ns
    if isinstance(step, PlannedOperation) and not step.when.after_s:
        wanted_ns = max(_free_ns(run, operation.started_ns), default=since_ns)
    return max(0, operation.started_ns - max(wanted_ns, since_ns)) / 1e9 if wanted_ns else 0.0


def _free_ns(run: RunView, until_ns: int) -> Iterator[int]:
    """When each step before was done: operations, those in the background as soon as they began, and faults."""
    operations = [at_ns for one in run.story.operations for at_ns in (one.started_ns, one.ended_ns)]
    changes = [at_ns for one in run.story.faults for at_ns in (one.confirmed_ns, one.healed_ns) if at_ns is not None]
    return (at_ns for at_ns in (*operations, *changes) if at_ns < until_ns)
