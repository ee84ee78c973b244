"""How many consumer groups a listing gave."""

from harness.measures import MeasuredValue, MeasureResult, Missing, RunView
from harness.measures.base import measure
from harness.story import integer_of


@measure(unit="count", about="Consumer groups that were listed.", applies_to=lambda one: one.name == "list_groups")
def groups(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    operation = run.operation(alias)
    if isinstance(operation, Missing):
        return operation
    listed = integer_of(operation.result, "groups")
    return Missing(f"`{alias}` listed none") if listed is None else MeasuredValue(listed)
