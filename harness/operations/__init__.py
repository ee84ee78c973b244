"""What scenarios can ask of a client: one file an operation."""

from harness.operations.base import OPERATIONS, Argument, Operation, ResultField, delivers, names_where

__all__ = ["OPERATIONS", "Argument", "Operation", "ResultField", "delivers", "names_where"]
