"""Messages that were written although their caller got an error. A caller that sends them again duplicates them."""

from harness.measures.base import deliveries, measure
from harness.measures.broker_log import messages_of
from harness.measures.results import MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.story import Outcome


@measure(
    unit="count",
    about="Messages that are in the log though their send returned an error.",
    applies_to=deliveries,
    run=True,
    integrity=True,
)
def zombies(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    found = messages_of(run, alias)
    if isinstance(found, Missing):
        return found
    return MeasuredValue(sum(send.outcome is Outcome.FAILED and bool(found.copies_of(send)) for send in found.sends))
