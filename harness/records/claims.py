"""When two claims are one and what becomes of one: a single reading for the terminal and the page.

A claim is a sentence of a text. Made in several scenarios, under whatever names, it is still one claim; the same
formula from another text is another.
"""

from collections.abc import Iterable
from typing import NamedTuple

UNSETTLED = "inconclusive"


class ClaimId(NamedTuple):
    """What makes a claim the one that it is. `what` tells what the formula is said to be: a measure of any step, or a
    statistic over many runs."""

    what: str
    formula: str
    source: str


def measure_label(measure: str) -> str:
    """`time to error`, of `probe.time_to_error`: what a scenario calls its steps is none of the text's business."""
    return measure.partition(".")[2].replace("_", " ")


def combined_outcome(outcomes: Iterable[str]) -> str:
    """held or refuted where all that settled it agree, mixed where they do not, inconclusive where nothing did."""
    settled = set(outcomes) - {UNSETTLED}
    if len(settled) > 1:
        return "mixed"
    return settled.pop() if settled else UNSETTLED


def as_declared(outcome: str, declared_holds: bool | None) -> bool | None:
    """Whether it turned out as a scenario declares; None where that declares nothing, or nothing settled it."""
    if declared_holds is None or outcome == UNSETTLED:
        return None
    return outcome == ("held" if declared_holds else "refuted")


def all_as_declared(told: Iterable[bool | None]) -> bool | None:
    """The same over many cases: those that declare nothing do not count."""
    known = [one for one in told if one is not None]
    return all(known) if known else None
