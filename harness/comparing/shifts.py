"""One measure of one case on both sides: by how much it shifted, how certain that is, and whether it matters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, nextafter

from harness.comparing.cases import CaseRuns
from harness.comparing.floor import Floor
from harness.comparing.samples import Sample, Unit
from harness.stats import Interval
from harness.stats.bootstrap import bootstrapped_shift
from harness.stats.ranks import mann_whitney_p_value
from harness.stats.shift import shift, shift_interval

UNCERTAINTY = 0.1
"""The true shift lies outside its interval with about this chance."""

SCREENING_LEVEL = 0.001
"""The exact interval at this chance is far wider than a bootstrapped one at UNCERTAINTY."""

MIN_RUNS = 5
"""Runs a side. With fewer, the range of the values holds the true median with less than 90 %."""

MAX_RUNS = 1000
"""The largest number of runs a side that a user is asked for."""

COMPARED_COUNTS = ("dials", "attempts", "lost", "duplicates", "zombies", "reordered")
"""Counts that are compared. Those of waits only explain a time of which they are part."""

OUTCOME_TIMES = ("time_to_error", "time_to_ack")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """`before` and `now` are medians, `shift` the median of all differences between two runs, in the measure's unit.

    `chance` is that of an order as clear as this one if nothing changed. `interval` is None where there were too few
    runs for one, or where the shift lies within the floor beyond doubt. `censored_value`: one of the medians is that
    of times that had not ended, so that it is a lower bound.
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
    """Both sides have exactly the same values, as the same runs on virtual time do."""

    @property
    def testable(self) -> bool:
        """Whether any assignment of these values to the sides could be an alarm. If none could, the shift is not
        counted among the tests; this looks only at the pooled values, so that it biases no test."""
        return self.enough_runs and self.spread > self.floor

    @property
    def enough_runs(self) -> bool:
        return min(self.runs_before, self.runs_now) >= MIN_RUNS

    @property
    def clearly_above_floor(self) -> bool:
        """The whole interval lies above the floor."""
        return self.interval is not None and self.interval.low > self.floor

    @property
    def clearly_below_floor(self) -> bool:
        return self.interval is not None and self.interval.high < -self.floor

    @property
    def probably_above_floor(self) -> bool:
        """The shift itself lies above the floor, however uncertain it is."""
        return self.shift > self.floor

    @property
    def possibly_above_floor(self) -> bool:
        """Whether a worsening by more than the floor cannot be excluded."""
        if self.interval is None:
            return not (self.enough_runs or self.identical)
        return self.interval.high > self.floor

    def runs_needed(self, least: int) -> int | None:
        """How many runs a side, `least` or more, would separate the shift from the floor; None where it would take
        more than MAX_RUNS. An interval shrinks with the square root of the runs."""
        runs = min(self.runs_before, self.runs_now)
        if self.interval is None:
            return max(MIN_RUNS, least)
        off = abs(self.shift - self.floor)
        half = max(self.interval.high - self.shift, self.shift - self.interval.low)
        if off == 0 or half > off * (MAX_RUNS / runs) ** 0.5:
            return None
        return max(MIN_RUNS, least, runs + 1, ceil(runs * (half / off) ** 2))


def comparable_measures(before: CaseRuns, now: CaseRuns) -> Iterator[str]:
    """The measures that are compared, by name: what a caller waits for, and what costs a broker."""
    for name in sorted(before.samples.keys() & now.samples.keys()):
        subject, _, measure = name.rpartition(".") if "(" not in name else ("", "", name)
        if not subject:
            continue
        if before.samples[name].unit == "count":
            whole = measure in COMPARED_COUNTS[:2] or subject == "run"
            if measure in COMPARED_COUNTS and whole:
                yield name
        elif measure != "time_to_end" or not _redundant_time_to_end(subject, before, now):
            yield name


def _redundant_time_to_end(alias: str, before: CaseRuns, now: CaseRuns) -> bool:
    """Whether every run's time to end is its time to error, or every one's its time to acknowledgement."""
    return any(
        all(
            len(side.samples[name]) == len(side.samples[f"{alias}.time_to_end"]) if name in side.samples else False
            for side in (before, now)
        )
        for name in (f"{alias}.{measure}" for measure in OUTCOME_TIMES)
    )


def compare_samples(
    measure: str, before: Sample, now: Sample, floor: float, *, chance: float = UNCERTAINTY, always: bool = False
) -> Shift:
    """Compare two samples. The true shift lies outside the interval with about this `chance`.

    `always`: compute an interval even where the shift is certainly within the floor.
    """
    # All that did not end share one value above every time that did.
    censored_value = nextafter(max(before.longest, now.longest), float("inf"))
    below, above = before.with_censored_as(censored_value), now.with_censored_as(censored_value)
    found = Shift(
        measure=measure, unit=before.unit, before=before.median, now=now.median, shift=shift(below, above),
        floor=floor, runs_before=len(below), runs_now=len(above),
        before_endless=_median_censored(before), now_endless=_median_censored(now), identical=before == now,
        spread=max(*below, *above) - min(*below, *above),
    )  # fmt: skip
    near = found.spread <= floor or _within_floor(below, above, floor)
    if not found.enough_runs or (near and not always):
        return found
    return replace(
        found,
        chance=1.0 if near else mann_whitney_p_value(below, above),
        interval=bootstrapped_shift(below, above, chance=chance),
    )


def floor_for_sample(sample: Sample, floor: Floor, timer_lag_s: float) -> float:
    """What a shift away from this sample must exceed to matter."""
    return floor.of_time(sample.median, timer_lag_s) if sample.unit == "s" else floor.of_count(sample.median)


def _within_floor(below: Sequence[float], above: Sequence[float], floor: float) -> bool:
    """Whether the shift certainly lies within the floor, outliers or not, so that the bootstrap can be skipped."""
    sure = shift_interval(below, above, chance=SCREENING_LEVEL)
    return -floor <= sure.low and sure.high <= floor


def _median_censored(sample: Sample) -> bool:
    return len(sample.censored) * 2 > len(sample)
