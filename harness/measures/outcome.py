"""How an operation ended, in one word: what a scenario expects that asks for no time."""

from harness.measures.base import any_operation, measure
from harness.measures.results import MeasuredText, MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.story import Outcome


@measure(
    unit="text",
    words=tuple(outcome.value for outcome in Outcome),
    about="How it ended: `ok`, `failed`, or `censored` where it had not by `give_up_after`.",
    applies_to=any_operation,
)
def outcome(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    operation = run.operation(alias)
    return operation if isinstance(operation, Missing) else MeasuredText(operation.outcome.value)
