"""Look up every partition of a topic."""

from harness.operations.base import DIAL_ARGUMENTS, TOPIC, Operation, ResultField, named_topic, register

LOOKUP_PARTITIONS = register(
    Operation(
        name="lookup_partitions",
        about="Ask any broker, once, about all partitions of a topic.",
        op="lookup_partitions",
        arguments=(TOPIC, *DIAL_ARGUMENTS),
        result=(ResultField(name="leaders", kind="text", about="each partition with its leader's id: `0:1 1:2`"),),
        dials=True,
        needs_client=True,
        names_anything=True,
        fields=named_topic,
    )
)
