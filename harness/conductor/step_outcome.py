"""Whether an operation ended as its step's `expect:` says. If not, the steps after it test nothing."""

from harness.drivers import OperationResult
from harness.operations import OPERATIONS
from harness.plan import PlannedOperation
from harness.story import Outcome


def unmet(step: PlannedOperation, answer: OperationResult) -> str | None:
    """Why the step's `expect:` was not met; None where it was, or where it has none."""
    if step.expect is None or answer.outcome is OPERATIONS[step.operation].expects[step.expect]:
        return None
    took_s = (answer.ended_ns - answer.started_ns) / 1e9
    wanted = f"`{step.alias}` was expected to be {step.expect}"
    match answer.outcome:
        case Outcome.OK:
            return f"{wanted}, but succeeded after {took_s:.3f} s"
        case Outcome.FAILED:
            return f"{wanted}, but failed after {took_s:.3f} s: {answer.error}"
        case Outcome.CENSORED:
            return f"{wanted}, but had not ended after {took_s:.3f} s"
