"""Look up the leader of a partition."""

from harness.operations.base import LEADER, PARTITION_ARGUMENTS, Operation, named_topic, register

LOOKUP_LEADER = register(
    Operation(
        name="lookup_leader",
        about="Ask any broker who leads a partition: `lookup_partition`, of which the leader is returned.",
        op="lookup_leader",
        arguments=PARTITION_ARGUMENTS,
        result=LEADER,
        dials=True,
        needs_client=True,
        names_anything=True,
        fields=named_topic,
    )
)
