"""Give later handles a pool of connections of their own."""

from harness.operations.base import HANDLE, Operation, register

NEW_TRANSPORT = register(
    Operation(
        name="new_transport",
        about="Let later connects share a new pool of connections; handles that exist keep theirs.",
        op="new_transport",
        arguments=(HANDLE,),
        needs_client=True,
    )
)
