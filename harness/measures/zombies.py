"""Messages whose error the caller got and that were written all the same: whoever sends them again doubles them."""

from harness.measures.base import MeasuredValue, MeasureResult, Missing, deliveries, measure
from harness.measures.broker_log import messages_of
from harness.plan import RunPlan
from harness.story import Outcome, Story


@measure(
    unit="count",
    about="Messages that are in the log though their send returned an error.",
    applies_to=deliveries,
    run=True,
    integrity=True,
)
def zombies(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    found = messages_of(story, alias)
    if isinstance(found, Missing):
        return found
    return MeasuredValue(sum(send.outcome is Outcome.FAILED and bool(found.copies_of(send)) for send in found.sends))
