"""Protects which measures of two cases are compared, and what is known of the shift between two samples."""

import pytest
import suites

from harness.comparing.cases import CaseRuns
from harness.comparing.samples import Sample
from harness.comparing.shifts import MIN_RUNS, Shift, comparable_measures, compare_samples

ERROR = "probe.time_to_error"


def measures(case: CaseRuns) -> set[str]:
    return set(comparable_measures(case, case))


def times(*values_s: float, unended_s: tuple[float, ...] = ()) -> Sample:
    return Sample("s", tuple(sorted(values_s)), unended_s)


def compared(before: Sample, now: Sample, floor_s: float = 0.1) -> Shift:
    return compare_samples(ERROR, before, now, floor_s)


def test_counts_are_compared_where_they_cost_a_broker_or_a_message() -> None:
    """Integrity is compared over the whole run; waits only explain, and so do counts that nobody named."""
    names = (
        "probe.dials", "probe.attempts", "probe.lost", "run.lost", "run.duplicates", "run.zombies", "run.reordered",
        "probe.waits(Net.DialTimeout)", "run.records", "probe.other",
    )  # fmt: skip
    assert measures(suites.case(counts={name: [1] * 20 for name in names})) == {
        "probe.dials", "probe.attempts", "run.lost", "run.duplicates", "run.zombies", "run.reordered",
    }  # fmt: skip


def test_a_time_to_the_end_is_compared_where_it_is_not_another_time_already() -> None:
    spread = suites.spread(2.0)
    waited = {"probe.waited(Net.DialTimeout)": spread}
    assert measures(suites.case(times={ERROR: spread, "probe.time_to_end": spread, **waited})) == {ERROR}
    some = suites.case(times={ERROR: spread[:10], "probe.time_to_ack": spread[10:], "probe.time_to_end": spread})
    assert measures(some) == {ERROR, "probe.time_to_ack", "probe.time_to_end"}
    assert measures(suites.case(times={"connect.time_to_end": spread, "outage.recovery": spread})) == {
        "connect.time_to_end", "outage.recovery",
    }  # fmt: skip


def test_a_median_is_a_bound_only_where_most_had_not_ended() -> None:
    half = times(*suites.spread(2.0, 10), unended_s=(60.0,) * 10)
    most = times(*suites.spread(2.0, 9), unended_s=(60.0,) * 11)
    shift = compared(half, most)
    assert (shift.before_endless, shift.now_endless) == (False, True)


@pytest.mark.parametrize(
    ("now_s", "step_s", "known"),
    [
        (2.5, 0.001, (True, True, True)),
        (2.12, 0.02, (False, True, True)),
        (2.08, 0.02, (False, False, True)),
        (2.0, 0.001, (False, False, False)),
        (1.5, 0.001, (False, False, False)),
    ],
    ids=["surely-above", "probably-above", "possibly-above", "equal", "below"],
)
def test_what_is_known_of_a_shift_beside_its_floor(now_s: float, step_s: float, known: tuple[bool, ...]) -> None:
    """The floor is 100 ms."""
    shift = compared(times(*suites.spread(2.0, step_s=step_s)), times(*suites.spread(now_s, step_s=step_s)))
    assert (shift.clearly_above_floor, shift.probably_above_floor, shift.possibly_above_floor) == known


def test_too_few_runs_exclude_nothing() -> None:
    few = times(*suites.spread(2.0, MIN_RUNS - 1))
    shift = compared(few, times(*suites.spread(9.0)))
    assert (shift.testable, shift.clearly_above_floor, shift.possibly_above_floor) == (False, False, True)
    assert (shift.runs_needed(1) or 0) >= MIN_RUNS
    assert not compared(few, few).possibly_above_floor, "the same values: the same runs on virtual time"


def test_more_runs_than_anybody_makes_are_not_asked_for() -> None:
    """The shift is the floor itself."""
    shift = compared(times(*suites.spread(2.0, step_s=0.1)), times(*suites.spread(2.1, step_s=0.1)), floor_s=0.1)
    assert shift.runs_needed(1) is None
