"""Look up a partition."""

from harness.operations.base import LEADER, PARTITION_ARGUMENTS, Operation, named_topic, register

LOOKUP_PARTITION = register(
    Operation(
        name="lookup_partition",
        about="Ask any broker about a partition, again and again until one knows it or the deadline passes.",
        op="lookup_partition",
        arguments=PARTITION_ARGUMENTS,
        result=LEADER,
        dials=True,
        needs_client=True,
        names_anything=True,
        fields=named_topic,
    )
)
