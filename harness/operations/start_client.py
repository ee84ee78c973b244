"""Start the subject's process without constructing anything: what is injected before it finds a cold client."""

from harness.operations.base import Operation, register

START_CLIENT = register(
    Operation(
        name="start_client",
        about="Start the client's process and wait until it says that it is ready; nothing is dialled yet.",
        op=None,
    )
)
