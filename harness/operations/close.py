"""Close the client: how long that blocks is measured like anything else."""

from harness.operations.base import Operation, register

CLOSE = register(
    Operation(
        name="close",
        about="Close the client: ends when the real client's close returns; its process exits after that.",
        op="close",
    )
)
