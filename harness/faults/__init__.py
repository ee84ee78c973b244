"""Every fault, one file each. Importing this package registers them all: a new fault is one new file and its test."""

from importlib import import_module
from pkgutil import iter_modules

from harness.faults.base import FAULTS, FaultModel, Proof, Stage

for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")

__all__ = ["FAULTS", "FaultModel", "Proof", "Stage"]
