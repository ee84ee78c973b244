"""Ask a broker for its consumer groups."""

from harness.operations.base import Operation, ResultField, register

LIST_GROUPS = register(
    Operation(
        name="list_groups",
        about="Ask a broker for its consumer groups.",
        op="list_groups",
        result=(ResultField(name="groups", kind="integer", about="how many groups it listed"),),
        needs_client=True,
    )
)
