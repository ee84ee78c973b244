"""Ask for the last offsets of a topic."""

from harness.operations.base import HANDLE, Argument, Fields, Operation, ResultField, register
from harness.plan import PlannedOperation, RunPlan


def _fields(do: PlannedOperation, plan: RunPlan) -> Fields:
    """Raises ValueError where neither the step nor the cluster names a topic."""
    topics = {topic.name: topic for topic in plan.cluster.topics}
    if not topics:
        raise ValueError(f"{do.alias}: the step names no topic and the cluster has none")
    topic = topics[str(do.arguments.get("topic", next(iter(topics))))]
    return {"topic": topic.name, "partitions": topic.partitions}


LIST_OFFSETS = register(
    Operation(
        name="list_offsets",
        about="Ask for the last offset of every partition of a topic: a client may split that over the leaders.",
        op="list_offsets",
        arguments=(
            Argument(name="topic", kind="text", about="which one; the cluster's first topic where absent"),
            Argument(name="deadline", kind="duration", key="deadline_s", about="the caller's deadline (a ctx)"),
            HANDLE,
        ),
        result=(
            ResultField(name="offsets", kind="text", about="each partition with its offset or its error: `0:5 1:7`"),
        ),
        dials=True,
        needs_client=True,
        fields=_fields,
    )
)
