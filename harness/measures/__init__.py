"""What can be measured of an operation: one file a measure."""

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
