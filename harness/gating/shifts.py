"""One measure of one case on both sides: by how much it shifted, how sure that is, and whether it matters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, nextafter

from harness.gating.cases import CaseRuns, Sample, Unit
from harness.gating.floor import Floor
from harness.stats import Interval
from harness.stats.bootstrap import bootstrapped_shift
from harness.stats.ranks import chance_above
from harness.stats.shift import shift, shift_interval

UNCERTAINTY = 0.1
"""The true shift lies outside of its interval with about this chance."""

DOUBT = 0.001
"""The exact interval at this chance is wider by far than one that is drawn at UNCERTAINTY."""

LEAST = 5
"""Runs a side. Between the least and the largest of fewer values the true median lies with less than 90 %."""

MOST_RUNS = 1000
"""More runs a side are never asked for by number."""

COUNTS = ("dials", "attempts", "lost", "duplicates", "zombies", "reordered")
"""Counts that are held against each other. Those of waits only explain: each is part of a time already."""

ENDS = ("time_to_error", "time_to_ack")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """`before` and `now` are medians, `shift` the median of all differences between two runs, in the measure's unit.

    `chance` is that of an order as clear as this one if nothing changed. `interval` is None where there were too few
    runs for one, or where the shift lies within the floor beyond doubt. `endless`: one of the medians is that of times
    that had not ended, so that it is a lower bound.
    """

    measure: str
    unit: Unit
    before: float
    now: float
    shift: float
    floor: float
    runs_before: int
    runs_now: int
    chance: float = 1.0
    interval: Interval | None = None
    before_endless: bool = False
    now_endless: bool = False
    spread: float = 0.0
    """Between the least and the largest value of both sides together."""
    identical: bool = False
    """Both sides told the very same values: on virtual time the same runs do."""

    @property
    def testable(self) -> bool:
        """Whether any order of these very runs could be an alarm. Which one they came in plays no part in it, so that
        what could be none need not be counted among the tests."""
        return self.enough and self.spread > self.floor

    @property
    def enough(self) -> bool:
        return min(self.runs_before, self.runs_now) >= LEAST

    @property
    def surely_above(self) -> bool:
        """The whole interval lies above the floor."""
        return self.interval is not None and self.interval.low > self.floor

    @property
    def surely_below(self) -> bool:
        return self.interval is not None and self.interval.high < -self.floor

    @property
    def perhaps_above(self) -> bool:
        """It cannot be excluded that it got worse by more than the floor."""
        if self.interval is None:
            return not (self.enough or self.identical)
        return self.interval.high > self.floor

    def needed(self, least: int) -> int | None:
        """So many runs a side, and `least` at the least, would tell it from the floor; None: no number that is asked
        for would. An interval shrinks with the root of the runs."""
        runs = min(self.runs_before, self.runs_now)
        if self.interval is None:
            return max(LEAST, least)
        off = abs(self.shift - self.floor)
        half = max(self.interval.high - self.shift, self.shift - self.interval.low)
        if off == 0 or half > off * (MOST_RUNS / runs) ** 0.5:
            return None
        return max(LEAST, least, runs + 1, ceil(runs * (half / off) ** 2))


def tested(before: CaseRuns, now: CaseRuns) -> Iterator[str]:
    """The measures that are held against each other, by name: what a caller waits for, and what costs a broker."""
    for name in sorted(before.samples.keys() & now.samples.keys()):
        subject, _, measure = name.rpartition(".") if "(" not in name else ("", "", name)
        if not subject:
            continue
        if before.samples[name].unit == "count":
            whole = measure in COUNTS[:2] or subject == "run"
            if measure in COUNTS and whole:
                yield name
        elif measure != "time_to_end" or not _told_by_all(subject, before, now):
            yield name


def _told_by_all(alias: str, before: CaseRuns, now: CaseRuns) -> bool:
    """Whether every run's time to end is its time to error, or every one's its time to acknowledgement."""
    return any(
        all(
            len(side.samples[name]) == len(side.samples[f"{alias}.time_to_end"]) if name in side.samples else False
            for side in (before, now)
        )
        for name in (f"{alias}.{measure}" for measure in ENDS)
    )


def compare_samples(
    measure: str, before: Sample, now: Sample, floor: float, *, chance: float = UNCERTAINTY, always: bool = False
) -> Shift:
    """Hold one sample against the other; the true shift lies outside of the interval with about this `chance`.

    `always`: an interval also where nothing lies beyond the floor.
    """
    # One place for all that did not end: above every time that did.
    endless = nextafter(max(before.longest, now.longest), float("inf"))
    below, above = before.ranked(endless), now.ranked(endless)
    found = Shift(
        measure=measure, unit=before.unit, before=before.middle, now=now.middle, shift=shift(below, above),
        floor=floor, runs_before=len(below), runs_now=len(above),
        before_endless=_endless(before), now_endless=_endless(now), identical=before == now,
        spread=max(*below, *above) - min(*below, *above),
    )  # fmt: skip
    near = found.spread <= floor or _near(below, above, floor)
    if not found.enough or (near and not always):
        return found
    return replace(
        found,
        chance=1.0 if near else chance_above(below, above),
        interval=bootstrapped_shift(below, above, chance=chance),
    )


def floor_of(sample: Sample, floor: Floor, late_s: float) -> float:
    """What a shift away from this sample must exceed to matter."""
    return floor.of_time(sample.middle, late_s) if sample.unit == "s" else floor.of_count(sample.middle)


def _near(below: Sequence[float], above: Sequence[float], floor: float) -> bool:
    """Whether the shift lies within the floor beyond doubt, so that nothing need be drawn: strays change nothing."""
    sure = shift_interval(below, above, chance=DOUBT)
    return -floor <= sure.low and sure.high <= floor


def _endless(sample: Sample) -> bool:
    return len(sample.unended) * 2 > len(sample)
