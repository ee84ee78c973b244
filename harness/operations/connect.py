"""Construct the client, for as long as the real constructor blocks."""

from harness.operations.base import HANDLE, Operation, register

CONNECT = register(
    Operation(
        name="connect",
        about="Construct the client: ends when the real client's constructor returns.",
        op="connect",
        arguments=(HANDLE,),
        dials=True,
        constructs=True,
    )
)
