"""Whether a profile, the real client and the simulation do the same in the same case.

Two samples agree where all shifts that are compatible with them lie within a bound: that nothing was found is no
agreement. They differ where no compatible shift lies within it, at a level that is shared by the whole matrix. What
lies between is unsure, and needs more runs.
"""

from harness.agreement.cases import agreement_cases
from harness.agreement.matrix import evaluate_agreement, runs_needed_by_case
from harness.agreement.sides import SIDES, side_of

__all__ = [
    "SIDES",
    "agreement_cases",
    "evaluate_agreement",
    "runs_needed_by_case",
    "side_of",
]
