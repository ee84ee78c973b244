"""What a step's own `expect:` decides: under a fault it is an expectation like any other, before one a preparation."""

from collections.abc import Iterator

from harness.measures import RunView
from harness.plan import PlannedOperation, step_alias
from harness.records.run import ExpectationResult
from harness.story import OperationStory


def preparation_failures(run: RunView) -> list[str]:
    """Why nothing was tested: steps before the first fault that did not end as they must."""
    return [why for operation, why in _unmet(run) if run.is_preparation(operation)]


def failed_steps(run: RunView) -> tuple[ExpectationResult, ...]:
    """Every other step that did not end as its `expect:` says, as a failed expectation of its outcome."""
    return tuple(_failed(run, operation, why) for operation, why in _unmet(run) if not run.is_preparation(operation))


def _unmet(run: RunView) -> Iterator[tuple[OperationStory, str]]:
    for operation in run.story.operations:
        if operation.unmet is not None:
            yield operation, operation.unmet


def _failed(run: RunView, operation: OperationStory, why: str) -> ExpectationResult:
    name = step_alias(operation.alias)
    steps = (step for step in run.plan.steps if isinstance(step, PlannedOperation) and step.alias == name)
    step = next(steps, None)
    wanted = "" if step is None else step.expect or ""
    return ExpectationResult(
        measure=f"{operation.alias}.outcome", kind="equals", unit="text", line=0 if step is None else step.line,
        formula=wanted, bound=f"expect: {wanted}", measured_text=operation.outcome.value, outcome="failed",
        fails_run=True, reason=why,
    )  # fmt: skip
