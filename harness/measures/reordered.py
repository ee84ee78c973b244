"""Messages that a later one has overtaken, as a retry beside later requests may cause."""

from harness.measures.base import deliveries, measure
from harness.measures.broker_log import messages_of
from harness.measures.results import MeasuredValue, MeasureResult, Missing
from harness.measures.run_view import RunView


@measure(
    unit="count",
    about="Messages that stand in the log behind one that was sent later, to the same partition. First copies count.",
    applies_to=deliveries,
    run=True,
    integrity=True,
)
def reordered(run: RunView, alias: str, _argument: str | None) -> MeasureResult:
    found = messages_of(run, alias)
    if isinstance(found, Missing):
        return found
    called_ns = {operation.alias: operation.started_ns for operation in run.story.operations}
    mine = {send.alias for send in found.sends}
    first = sorted((copies[0] for copies in found.copies.values()), key=lambda c: (c.topic, c.partition, c.offset))
    latest_ns: dict[tuple[str, int], int] = {}
    count = 0
    for copy in first:
        where, at_ns = (copy.topic, copy.partition), called_ns[copy.operation]
        count += copy.operation in mine and at_ns < latest_ns.get(where, at_ns)
        latest_ns[where] = max(at_ns, latest_ns.get(where, at_ns))
    return MeasuredValue(count)
