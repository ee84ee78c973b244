"""What scenarios can ask of a client: one file an operation, found by importing this package."""

import pkgutil
from importlib import import_module

from harness.operations.base import OPERATIONS, Argument, Operation

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["OPERATIONS", "Argument", "Operation"]
