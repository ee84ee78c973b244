"""Messages that stand in the log more than once: what a retry after an unanswered request may leave."""

from harness.measures.base import MeasuredValue, MeasureResult, Missing, deliveries, measure
from harness.measures.broker_log import messages_of
from harness.plan import RunPlan
from harness.story import Story


@measure(
    unit="count",
    about="Copies in the log beyond the first one of each message.",
    applies_to=deliveries,
    run=True,
    integrity=True,
)
def duplicates(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    found = messages_of(story, alias)
    if isinstance(found, Missing):
        return found
    return MeasuredValue(sum(max(0, len(found.copies_of(send)) - 1) for send in found.sends))
