"""Messages that are in the log more than once, as a retry after an unanswered request may leave them."""

from harness.measures.base import deliveries, measure
from harness.measures.broker_log import messages_of
from harness.measures.results import MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView


@measure(
    unit="count",
    about="Copies in the log beyond the first one of each message.",
    applies_to=deliveries,
    run=True,
    integrity=True,
)
def duplicates(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    found = messages_of(run, alias)
    if isinstance(found, Missing):
        return found
    return MeasuredValue(sum(max(0, len(found.copies_of(send)) - 1) for send in found.sends))
