"""What becomes of a call, and of its message, where the fault heals after a while: tried at many moments in simulated
runs. A fault that lasts no longer than a client can ride out is no error; one that outlasts it may leave a message that
is written though its caller got an error, or written twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.explaining.configured_case import ConfiguredCase
from harness.explaining.insistent_caller import carried_on, got_through, up_to
from harness.explaining.simulated import Simulate
from harness.faults import FAULTS
from harness.language.identity import identity
from harness.measures import parse
from harness.operations import OPERATIONS
from harness.plan import PlannedFault, PlannedOperation, RunPlan
from harness.story import OperationStory, Outcome, Story, WriteStatus

PARTS = (0.02, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.97)
"""Of the time until the error: how long the fault lasts where it heals before."""
AFTER_S = (0.1, 1.0, 10.0)
"""How long after the error it heals otherwise."""
PATIENCE_S = 120.0
"""How long after healing a caller tries again until a call gets through. Where one did so in vain, the runs with longer
faults are not carried on: thousands of calls would say the same."""
NEVER_HEALS = ("reset", "restart")
"""Faults whose healing brings nothing back that a call waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealedRun:
    """A fault of `lasted_s`, and the call that it met. `written` and `copies` are of the call's message, None where the
    log does not say or there is none. `recovery_s` is the time from healing until a call got through."""

    lasted_s: float
    failed: bool
    written: bool | None
    copies: int
    recovery_s: float | None


@dataclass(frozen=True, slots=True)
class HealingSweep:
    """Sorted by how long the fault lasted."""

    runs: tuple[HealedRun, ...]

    @property
    def delivers(self) -> bool:
        """Whether the call has a message."""
        return any(run.written is not None for run in self.runs)

    @property
    def rides_out_s(self) -> float:
        """The longest of the faults up to which no call fails; 0 where even the shortest makes it fail."""
        longest_s = 0.0
        for run in self.runs:
            if run.failed:
                break
            longest_s = run.lasted_s
        return longest_s

    @property
    def written_though_failed(self) -> tuple[HealedRun, ...]:
        return tuple(run for run in self.runs if run.failed and run.written)

    @property
    def doubled(self) -> tuple[HealedRun, ...]:
        return tuple(run for run in self.runs if run.copies > 1)

    @property
    def recoveries_s(self) -> tuple[float, ...]:
        """Of calls that failed."""
        return tuple(run.recovery_s for run in self.runs if run.failed and run.recovery_s is not None)

    @property
    def never_recovers(self) -> bool:
        """Whether after some failed call none got through again."""
        return any(run.failed and run.recovery_s is None for run in self.runs)


def moments(error_s: float) -> tuple[float, ...]:
    """How long faults last that are tried where the error comes after `error_s`."""
    return (*(round(part * error_s, 3) for part in PARTS), *(round(error_s + more_s, 3) for more_s in AFTER_S))


def sweep(
    configured_case: ConfiguredCase, measure: str, lasting_s: Sequence[float], simulate: Simulate
) -> HealingSweep | None:
    """Let the case's fault last so long, each in a run of its own. None where it has several, or none that heals."""
    alias = parse(measure).alias
    plan = up_to(configured_case.plan, alias)
    faults = [step for step in plan.steps if isinstance(step, PlannedFault)]
    if len(faults) != 1 or faults[0].recurs is not None or faults[0].fault.name in NEVER_HEALS:
        return None
    delivers = OPERATIONS[_last(plan).operation].delivers
    runs: list[HealedRun] = []
    for lasted_s in sorted(lasting_s):
        in_vain = any(run.failed and run.recovery_s is None for run in runs)
        story = simulate(_healed(plan, faults[0], lasted_s, carry_on=delivers and not in_vain))
        if not in_vain and not delivers and story.error is None and _failed(story, alias):
            story = simulate(_healed(plan, faults[0], lasted_s, carry_on=True))  # a client is constructed only once
        if story.error is not None or _call(story, alias) is None:
            return None
        runs.append(_run(story, alias, faults[0].alias, lasted_s))
    return HealingSweep(tuple(runs))


def survives_reset(configured_case: ConfiguredCase, measure: str, simulate: Simulate) -> bool | None:
    """Whether a call gets through where its connection is reset once in mid-request; None where it has none by then."""
    if configured_case.case.at_start:
        return None
    alias = parse(measure).alias
    plan = up_to(configured_case.plan, alias)
    reset = PlannedFault(fault=FAULTS["reset"].model_validate({"times": 1}), alias="cut")
    steps = [reset if isinstance(step, PlannedFault) else step for step in plan.steps]
    if sum(step is reset for step in steps) != 1:
        return None
    story = simulate(_identified(replace(plan, steps=tuple(steps))))
    return None if story.error is not None or _call(story, alias) is None else not _failed(story, alias)


def _healed(plan: RunPlan, fault: PlannedFault, lasted_s: float, *, carry_on: bool) -> RunPlan:
    steps = tuple(replace(step, for_s=lasted_s) if step is fault else step for step in plan.steps)
    healed = replace(plan, steps=steps, integrity=OPERATIONS[_last(plan).operation].delivers)
    return _identified(carried_on(healed, PATIENCE_S + lasted_s) if carry_on else healed)


def _last(plan: RunPlan) -> PlannedOperation:
    last = plan.steps[-1]
    assert isinstance(last, PlannedOperation), "the plan ends with the call"
    return last


def _call(story: Story, alias: str) -> OperationStory | None:
    return next((one for one in story.operations if one.alias == alias), None)


def _failed(story: Story, alias: str) -> bool:
    call = _call(story, alias)
    return call is not None and call.outcome is not Outcome.OK


def _identified(plan: RunPlan) -> RunPlan:
    return replace(plan, run_id=identity(plan))


def _run(story: Story, alias: str, fault_alias: str, lasted_s: float) -> HealedRun:
    call = _call(story, alias)
    assert call is not None, "looked for before"
    fault = next(one for one in story.faults if one.alias == fault_alias)
    through = got_through(story)
    copies = story.integrity.copies if story.integrity is not None else ()
    return HealedRun(
        lasted_s=lasted_s,
        failed=call.outcome is not Outcome.OK,
        written=call.written is WriteStatus.WRITTEN if call.written not in (None, WriteStatus.UNKNOWN) else None,
        copies=sum(copy.operation == alias for copy in copies),
        recovery_s=None
        if through is None or fault.healed_ns is None
        else max(0.0, (through.ended_ns - fault.healed_ns) / 1e9),
    )
