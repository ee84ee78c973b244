"""How subjects are started and spoken to: one file a driver, found by importing this package."""

import pkgutil
from importlib import import_module

from harness.drivers.base import DRIVERS, build_program
from harness.drivers.calls import OperationCall, OperationResult
from harness.drivers.errors import SubjectError
from harness.drivers.session import Subject

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["DRIVERS", "OperationCall", "OperationResult", "Subject", "SubjectError", "build_program"]
