"""Messages that were acknowledged and are not in the log."""

from harness.measures.base import deliveries, measure
from harness.measures.broker_log import messages_of
from harness.measures.results import MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView
from harness.story import Outcome


@measure(
    unit="count",
    about="Acknowledged messages that are not in the log.",
    applies_to=deliveries,
    run=True,
    integrity=True,
)
def lost(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    found = messages_of(run, alias)
    if isinstance(found, Missing):
        return found
    return MeasuredValue(sum(send.outcome is Outcome.OK and not found.copies_of(send) for send in found.sends))
