"""A caller who calls again and again until a call gets through: plans for it, and what became of it."""

from dataclasses import replace

from harness.operations import OPERATIONS
from harness.plan import PlannedOperation, RepeatUntil, RunPlan, StartCondition, Step, step_alias
from harness.story import OperationStory, Outcome, Story

CALLED_AGAIN_S = 0.1
"""From one call's beginning to the next's, where the first does not take longer."""
AGAIN = "called_again"


def up_to(plan: RunPlan, alias: str) -> RunPlan:
    """Only what leads to the call, which may end as it will."""
    steps: list[Step] = []
    for step in plan.steps:
        if isinstance(step, PlannedOperation) and step.alias == alias:
            return replace(plan, steps=(*steps, replace(step, expect=None)), expectations=(), statistics=())
        steps.append(step)
    raise ValueError(f"{plan.scenario} has no step {alias}")


def carried_on(plan: RunPlan, patience_s: float, *, every_s: float = CALLED_AGAIN_S) -> RunPlan:
    """The plan's last call again and again, for so long."""
    last = plan.steps[-1]
    assert isinstance(last, PlannedOperation), "the plan ends with a call"
    delivers = OPERATIONS[last.operation].delivers
    again = replace(
        last,
        alias=AGAIN,
        arguments={name: value for name, value in last.arguments.items() if name != "value"},
        give_up_after_s=patience_s,
        again=RepeatUntil(every_s=every_s, until="acknowledged" if delivers else "ok"),
        when=StartCondition(),
    )
    return replace(plan, steps=(*plan.steps, again), limit_s=plan.limit_s + patience_s)


def got_through(story: Story) -> OperationStory | None:
    """The first of those calls that succeeded; None where none did."""
    calls = (one for one in story.operations if step_alias(one.alias) == AGAIN)
    return next((one for one in calls if one.outcome is Outcome.OK), None)
