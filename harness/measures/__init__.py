"""What can be measured of an operation: one file a measure, found by importing this package."""

import pkgutil
from importlib import import_module

from harness.measures.base import (
    MEASURES,
    Censored,
    MeasureDefinition,
    MeasuredValue,
    MeasureName,
    MeasureResult,
    Missing,
    parse,
)

for _module in pkgutil.iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "MEASURES",
    "Censored",
    "MeasureDefinition",
    "MeasureName",
    "MeasureResult",
    "MeasuredValue",
    "Missing",
    "parse",
]
