"""Messages that another one has overtaken: what a retry beside later requests may leave."""

from harness.measures.base import MeasuredValue, MeasureResult, Missing, deliveries, measure
from harness.measures.broker_log import messages_of
from harness.plan import RunPlan
from harness.story import Story


@measure(
    unit="count",
    about="Messages that stand in the log behind one that was sent later, to the same partition. First copies count.",
    applies_to=deliveries,
    run=True,
    integrity=True,
)
def reordered(_plan: RunPlan, story: Story, alias: str, _argument: str | None) -> MeasureResult:
    found = messages_of(story, alias)
    if isinstance(found, Missing):
        return found
    called_ns = {operation.alias: operation.started_ns for operation in story.operations}
    mine = {send.alias for send in found.sends}
    first = sorted((copies[0] for copies in found.copies.values()), key=lambda c: (c.topic, c.partition, c.offset))
    latest_ns: dict[tuple[str, int], int] = {}
    count = 0
    for copy in first:
        where, at_ns = (copy.topic, copy.partition), called_ns[copy.operation]
        count += copy.operation in mine and at_ns < latest_ns.get(where, at_ns)
        latest_ns[where] = max(at_ns, latest_ns.get(where, at_ns))
    return MeasuredValue(count)
