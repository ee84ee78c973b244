"""How many consumer groups a listing gave."""

from harness.measures.lookup import operation_of

from harness.measures.base import MeasuredValue, MeasureResult, Missing, measure
from harness.plan import RunPlan
from harness.story import Story, integer_of


@measure(unit="count", about="Consumer groups that were listed.", applies_to=lambda one: one.name == "list_groups")
def groups(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    operation = operation_of(story, alias)
    if isinstance(operation, Missing):
        return operation
    listed = integer_of(operation.result, "groups")
    return Missing(f"`{alias}` listed none") if listed is None else MeasuredValue(listed)
