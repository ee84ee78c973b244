"""Send one message and wait for its acknowledgement or its error."""

from harness.operations.base import HANDLE, Argument, Fields, Operation, ResultField, named_topic, register
from harness.plan import PlannedOperation, RunPlan
from harness.story import Outcome


def _fields(do: PlannedOperation, plan: RunPlan) -> Fields:
    """Raises ValueError where neither the step nor the cluster names a topic."""
    fields = named_topic(do, plan)
    text = str(do.arguments.get("value", f"{plan.run_id}/{do.alias}"))
    size_bytes = int(do.arguments.get("size", len(text)))
    fields["value"] = text[:size_bytes].ljust(size_bytes, ".")
    return fields


SEND = register(
    Operation(
        name="send",
        about="Send one message: ends when the real client's send returns its acknowledgement or its error.",
        op="send",
        repeatable=True,
        arguments=(
            Argument(name="topic", kind="text", about="where to; the cluster's first topic where absent"),
            Argument(
                name="partition",
                kind="count",
                key="partition",
                about="which partition; the client's partitioner where absent",
            ),
            Argument(name="key", kind="text", key="key", about="the message's key"),
            Argument(name="value", kind="text", about="the message's value; names the run and the step where absent"),
            Argument(name="size", kind="size", about="cut or pad the value to so many bytes"),
            Argument(
                name="deadline",
                kind="duration",
                key="deadline_s",
                about="the caller's deadline (a ctx), where the client has one",
            ),
            HANDLE,
        ),
        result=(
            ResultField(name="partition", kind="integer", about="the partition that the message was written to"),
            ResultField(name="offset", kind="integer", about="its place in the partition's log"),
        ),
        delivers=True,
        dials=True,
        needs_client=True,
        expects={"acknowledged": Outcome.OK, "ok": Outcome.OK, "failed": Outcome.FAILED},
        fields=_fields,
    )
)
