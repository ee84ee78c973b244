"""Why a client waits so long under a fault, from its named formulas and somebody's own settings.

Reckons with formulas and asks a `Simulate` to try whatever it says; it opens no world and prints nothing.
"""

from harness.explaining.budget import Budget
from harness.explaining.cases import CaseCatalogue, ExplainableCase, case_catalogues
from harness.explaining.configured_case import (
    ConfiguredCase,
    InvalidQuestion,
    Mistake,
    Prediction,
    Question,
    configure_case,
    predictions,
)
from harness.explaining.effects import Effect
from harness.explaining.explanation import CheckedClaim, Explanation, InapplicableCase, RelatedCase, explain
from harness.explaining.measurements import Measurement, measurements
from harness.explaining.releases import OtherRelease
from harness.explaining.simulated import Simulate, SimulatedRun, Trial
from harness.explaining.terms import ExplainedTerm

__all__ = [
    "Budget",
    "CaseCatalogue",
    "CheckedClaim",
    "ConfiguredCase",
    "Effect",
    "ExplainableCase",
    "ExplainedTerm",
    "Explanation",
    "InapplicableCase",
    "InvalidQuestion",
    "Measurement",
    "Mistake",
    "OtherRelease",
    "Prediction",
    "Question",
    "RelatedCase",
    "Simulate",
    "SimulatedRun",
    "Trial",
    "case_catalogues",
    "configure_case",
    "explain",
    "measurements",
    "predictions",
]
