"""Why a client waits so long under a fault, from its named formulas and somebody's own settings.

Reckons with formulas and asks a `Simulate` to try whatever it says; it opens no world and prints nothing.
"""

from harness.explaining.budget import Budget
from harness.explaining.cases import Case, Library, libraries
from harness.explaining.effects import Effect
from harness.explaining.explanation import Claimed, Explanation, PassedOver, Related, explain
from harness.explaining.measurements import Measurement, measurements
from harness.explaining.releases import OtherRelease
from harness.explaining.simulated import Simulate, Simulated, Trial
from harness.explaining.situation import Answer, Asked, Mistake, Mistaken, Situation, answers, situate
from harness.explaining.terms import ExplainedTerm

__all__ = [
    "Answer",
    "Asked",
    "Budget",
    "Case",
    "Claimed",
    "Effect",
    "ExplainedTerm",
    "Explanation",
    "Library",
    "Measurement",
    "Mistake",
    "Mistaken",
    "OtherRelease",
    "PassedOver",
    "Related",
    "Simulate",
    "Simulated",
    "Situation",
    "Trial",
    "answers",
    "explain",
    "libraries",
    "measurements",
    "situate",
]
