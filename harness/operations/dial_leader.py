"""Look up the leader of a partition, and open a connection to it."""

from harness.operations.base import CONNECTED_TO, PARTITION_ARGUMENTS, Operation, named_topic, register

DIAL_LEADER = register(
    Operation(
        name="dial_leader",
        about="Ask any broker who leads a partition, and open a connection to that one; sends to it go there then.",
        op="dial_leader",
        arguments=PARTITION_ARGUMENTS,
        result=(CONNECTED_TO,),
        dials=True,
        needs_client=True,
        names_anything=True,
        fields=named_topic,
    )
)
