"""What scenarios can ask of a client: one file an operation."""

from harness.operations.base import OPERATIONS, Argument, Operation

__all__ = ["OPERATIONS", "Argument", "Operation"]
