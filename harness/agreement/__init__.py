"""Whether a profile, the real client and the simulation do the same in the same case.

Two samples agree where every shift that is compatible with them lies within a bound: finding no difference is not
enough. They differ where no compatible shift lies within it, at a level that the whole matrix shares. Anything between
is unsure, and needs more runs.
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
