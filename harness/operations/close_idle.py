"""Close the client's idle connections."""

from harness.operations.base import HANDLE, Operation, register

CLOSE_IDLE = register(
    Operation(
        name="close_idle",
        about="Close the connections that nobody uses; the next call dials anew, and asks for metadata again.",
        op="close_idle",
        arguments=(HANDLE,),
        needs_client=True,
    )
)
