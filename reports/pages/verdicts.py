"""Verdicts in words, and which of several stands for all."""

from collections.abc import Iterable, Mapping

SEVERITY_ORDER = ("fail", "lab_error", "inconclusive", "pass", "skipped")
"""As the exit code: a failure comes before the lab's own, and that before what was not tested."""

WORDS: Mapping[str, str] = {
    "pass": "pass",
    "fail": "fail",
    "inconclusive": "inconclusive",
    "lab_error": "lab error",
    "skipped": "skipped",
}
SIGNS: Mapping[str, str] = {
    "pass": "\u2713",
    "fail": "\u2717",
    "inconclusive": "?",
    "lab_error": "!",
    "skipped": "\u2013",
}
"""Beside each word, so that colour is never alone."""


def worst_verdict(verdicts: Iterable[str]) -> str:
    found = set(verdicts)
    return next((verdict for verdict in SEVERITY_ORDER if verdict in found), "skipped")


def verdict_of_row(row: Mapping[str, int]) -> str:
    """The verdict of a row of the timeout table; `unjudged` where nothing was expected of the measure."""
    for outcome, verdict in (("failed", "fail"), ("inconclusive", "inconclusive"), ("held", "pass")):
        if row[outcome]:
            return verdict
    return "unjudged"
