"""What can be measured of an operation: one file a measure."""

from harness.measures.base import MEASURES, MeasureDefinition, take
from harness.measures.names import WHOLE_RUN, MeasureName, parse
from harness.measures.results import Censored, MeasuredText, MeasuredValue, MeasureResult, Missing, WrongOutcome
from harness.measures.run_view import RunView

__all__ = [
    "MEASURES",
    "WHOLE_RUN",
    "Censored",
    "MeasureDefinition",
    "MeasureName",
    "MeasureResult",
    "MeasuredText",
    "MeasuredValue",
    "Missing",
    "RunView",
    "WrongOutcome",
    "parse",
    "take",
]
