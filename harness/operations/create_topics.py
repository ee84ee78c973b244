"""Create a topic."""

from harness.operations.base import HANDLE, Argument, Operation, register

CREATE_TOPICS = register(
    Operation(
        name="create_topics",
        about="Create a topic: ends when the real client's call returns, which may wait until its metadata has it.",
        op="create_topics",
        arguments=(
            Argument(name="name", kind="text", key="topic", about="what the topic is called"),
            Argument(name="partitions", kind="count", key="partitions", about="how many; 1 where absent"),
            Argument(name="replication", kind="count", key="replication", about="replicas of each; 1 where absent"),
            Argument(name="deadline", kind="duration", key="deadline_s", about="the caller's deadline (a ctx)"),
            HANDLE,
        ),
        dials=True,
        needs_client=True,
    )
)
