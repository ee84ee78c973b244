"""Open a connection with a Dialer."""

from harness.operations.base import CONNECTED_TO, DIAL_ARGUMENTS, Operation, register

DIAL = register(
    Operation(
        name="dial",
        about="Open a connection to an address, which stays open until the client is closed.",
        op="dial",
        arguments=DIAL_ARGUMENTS,
        result=(CONNECTED_TO,),
        dials=True,
        needs_client=True,
    )
)
