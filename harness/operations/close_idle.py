"""Close the client's idle connections."""

from harness.operations.base import HANDLE, Operation, register

CLOSE_IDLE = register(
    Operation(
        name="close_idle",
        about="Close idle connections; the next call dials again and asks for metadata again.",
        op="close_idle",
        arguments=(HANDLE,),
        needs_client=True,
    )
)
