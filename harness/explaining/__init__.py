"""Why a client waits so long under a fault, from its named formulas and somebody's own settings.

Reckons with formulas and asks a `Simulate` to try whatever it says; it opens no world and prints nothing.
"""

from harness.explaining.addresses import DEAD, REFUSED
from harness.explaining.assumptions import Assumption, configure_assuming
from harness.explaining.budget import Budget, Option, Price
from harness.explaining.cases import BOOTSTRAP, CaseCatalogue, ChanceCase, ExplainableCase, case_catalogues
from harness.explaining.chance import (
    QUANTILE,
    SEEDS,
    ChanceBudget,
    ChanceExplanation,
    DrawnCase,
    explain_chance,
)
from harness.explaining.chance_question import decided_by_chance
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
from harness.explaining.healing import HealedRun, HealingSweep
from harness.explaining.healthy_path import HealthyPath
from harness.explaining.measurements import Measurement, measurements
from harness.explaining.releases import OtherRelease
from harness.explaining.seeds import Sample
from harness.explaining.simulated import Simulate, SimulatedRun, Trial
from harness.explaining.terms import ExplainedTerm
from harness.formulas.distribution import PredictedOutcome

__all__ = [
    "BOOTSTRAP",
    "DEAD",
    "QUANTILE",
    "REFUSED",
    "SEEDS",
    "Assumption",
    "Budget",
    "CaseCatalogue",
    "ChanceBudget",
    "ChanceCase",
    "ChanceExplanation",
    "CheckedClaim",
    "ConfiguredCase",
    "DrawnCase",
    "Effect",
    "ExplainableCase",
    "ExplainedTerm",
    "Explanation",
    "HealedRun",
    "HealingSweep",
    "HealthyPath",
    "InapplicableCase",
    "InvalidQuestion",
    "Measurement",
    "Mistake",
    "Option",
    "OtherRelease",
    "PredictedOutcome",
    "Prediction",
    "Price",
    "Question",
    "RelatedCase",
    "Sample",
    "Simulate",
    "SimulatedRun",
    "Trial",
    "case_catalogues",
    "configure_assuming",
    "configure_case",
    "decided_by_chance",
    "explain",
    "explain_chance",
    "measurements",
    "predictions",
]
