"""Which settings a late operation spent its time on, beside what its formula says of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.records.bounds import LIMITS
from reports import figures
from reports.charts.badges import Badge

MAX_SHOWN = 3
MIN_SHARE = 0.03
"""Of the difference, or of the time where no formula names a setting: what is less is not worth a word."""
TIME_MEASURES = ("time_to_error", "time_to_end", "time_to_ack")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlamedSetting:
    """A setting, and its part in words: `+2.023 s, ran out 8 times instead of 4`, or of a limit
    `14.000 s of 18.850 s, 14 x 1 s`."""

    badge: Badge
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """`by_formula`: parts are differences from a formula's terms, else they are whole times. `lower` is the setting
    that shortens the wait most, where a bound was missed: what never ran out shortens none."""

    parts: tuple[BlamedSetting, ...]
    by_formula: bool
    lower: str


def blame_of(
    row: Mapping[str, Any],
    waits: Sequence[Mapping[str, Any]],
    marks: Mapping[str, Badge],
    settings: Mapping[str, float | None],
) -> Blame | None:
    """Of an expectation that was violated and the waits of its case and operation; `settings` are the client's, in
    seconds. A limit has no terms. None where the client reported no waits, these do not account for it, or the median
    run is within bounds: the waits are those of a median run.
    """
    if not waits or median_within_bounds(row):
        return None
    terms = [] if row["kind"] in LIMITS else [term for term in row["terms"] or [] if term["setting"]]
    whole_s = row["median"] or 0.0
    longest = [] if terms else longest_of(waits, whole_s)
    blamed = compare_with_formula(terms, waits, marks) if terms else without_formula(longest, whole_s, marks, settings)
    if not blamed:
        return None
    late = row["kind"] == "at_most" and str(row["measure"]).partition(".")[2] in TIME_MEASURES
    ran_out = (wait["setting"] for wait in longest if wait["elapsed"])
    return Blame(parts=tuple(blamed[:MAX_SHOWN]), by_formula=bool(terms), lower=next(ran_out, "") if late else "")


def median_within_bounds(row: Mapping[str, Any]) -> bool:
    """Whether the median lies where it should, so that only single runs do not."""
    median, low, high = row["median"], row["low"], row["high"]
    if median is None or (low is None and high is None):
        return False
    return (low is None or low <= median) and (high is None or (median <= high and not row["median_is_bound"]))


def compare_with_formula(
    terms: Sequence[Mapping[str, Any]], waits: Sequence[Mapping[str, Any]], marks: Mapping[str, Badge]
) -> list[BlamedSetting]:
    found = {wait["setting"]: wait for wait in waits}
    off: list[tuple[float, BlamedSetting]] = []
    for setting in dict.fromkeys([*(term["setting"] for term in terms), *found]):
        own = [term for term in terms if term["setting"] == setting]
        wait = found.get(setting)
        seconds = (wait["total_s"] if wait else 0.0) - sum(term["total"] for term in own)
        if setting in marks:
            words = figures.difference(seconds, "s") + times(wait, own)
            off.append((seconds, BlamedSetting(badge=marks[setting], words=words)))
    whole = sum(abs(seconds) for seconds, _ in off)
    off.sort(key=lambda one: -abs(one[0]))
    return [one for seconds, one in off if abs(seconds) > MIN_SHARE * whole]


def times(wait: Mapping[str, Any] | None, own: Sequence[Mapping[str, Any]]) -> str:
    """`, ran out 8 times instead of 4`: nothing where both count the same, or the formula does not count."""
    ran_out = wait["elapsed"] if wait else 0
    if not own:
        return ", which no term names"
    if any(term["count"] is None for term in own):
        return ""
    expected = sum(term["count"] for term in own)
    return f", ran out {ran_out:g} times instead of {expected:g}" if ran_out != expected else ""


def longest_of(waits: Sequence[Mapping[str, Any]], whole_s: float) -> list[Mapping[str, Any]]:
    """Those that are worth a word beside all that was waited, and all the time that it took; the longest first."""
    ordered = sorted(waits, key=lambda wait: -wait["total_s"])
    least_s = MIN_SHARE * max(whole_s, sum(wait["total_s"] for wait in ordered))
    return [wait for wait in ordered if wait["total_s"] > least_s]


def without_formula(
    longest: Sequence[Mapping[str, Any]],
    whole_s: float,
    marks: Mapping[str, Badge],
    settings: Mapping[str, float | None],
) -> list[BlamedSetting]:
    """`14.000 s of 18.850 s, 14 x 1 s`, and of the others how long and how often."""
    whole = f" of {figures.amount(whole_s, 's')}" if whole_s else ""
    return [
        BlamedSetting(
            badge=marks[wait["setting"]],
            words=figures.amount(wait["total_s"], "s")
            + ("" if place else whole)
            + (f", {often}" if (often := how_often(wait["elapsed"], settings.get(wait["setting"]))) else ""),
        )
        for place, wait in enumerate(longest)
    ]


def how_often(elapsed: float, each_s: float | None) -> str:
    """`14 x 1 s`; nothing where no wait ran out, or the setting has no time of its own."""
    if not elapsed or not each_s:
        return ""
    return f"{elapsed:g} \u00d7 {figures.setting_value(each_s)}"
