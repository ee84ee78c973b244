"""Close the client: how long that blocks is measured like anything else."""

from harness.operations.base import HANDLE, Operation, register

CLOSE = register(
    Operation(
        name="close",
        about="Close the client: ends when the real client's close returns; its process exits after that.",
        op="close",
        arguments=(HANDLE,),
        dials=True,
        closes=True,
    )
)
