"""How subjects are started and spoken to: one file a driver, found by importing this package."""

import pkgutil
from importlib import import_module

from harness.drivers.base import DRIVERS, program_of
from harness.drivers.calls import Answer, Call
from harness.drivers.errors import SubjectError
from harness.drivers.session import Subject

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["DRIVERS", "Answer", "Call", "Subject", "SubjectError", "program_of"]
