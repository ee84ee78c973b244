"""Messages that were promised and are not there: what a producer exists to prevent."""

from harness.measures.base import MeasuredValue, MeasureResult, Missing, deliveries, measure
from harness.measures.broker_log import messages_of
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(
    unit="count",
    about="Acknowledged messages that are not in the log.",
    applies_to=deliveries,
    run=True,
    integrity=True,
)
def lost(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    found = messages_of(story, alias)
    if isinstance(found, Missing):
        return found
    return MeasuredValue(sum(send.outcome is Outcome.OK and not found.copies_of(send) for send in found.sends))
