"""Open a connection to the leader of a partition that was looked up before."""

from harness.operations.base import CONNECTED_TO, DEADLINE, HANDLE, PARTITION, TOPIC, Operation, named_topic, register

DIAL_PARTITION = register(
    Operation(
        name="dial_partition",
        about="Dial the leader that the last look-up of this partition named, even if another leads now.",
        op="dial_partition",
        arguments=(TOPIC, PARTITION, DEADLINE, HANDLE),
        result=(CONNECTED_TO,),
        dials=True,
        needs_client=True,
        names_anything=True,
        fields=named_topic,
    )
)
