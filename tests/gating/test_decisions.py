"""Protects the decision of the gate: no alarm on equal runs, whatever their order; more effect never means less alarm;
what is too small, too rare or too few to say is not said."""

from dataclasses import replace

import pytest
import suites
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.comparing.cases import CaseRuns
from harness.comparing.floor import parse_floor
from harness.comparing.shifts import MIN_RUNS, Shift
from harness.gating.assessment import SEVERITY, AssessedDifference
from harness.gating.gate import GateResult, gate

TIMES = st.lists(st.floats(0.0001, 60.0).map(lambda value: round(value, 4)), min_size=1, max_size=24)
ERROR = "probe.time_to_error"


def held(before: CaseRuns, now: CaseRuns) -> GateResult:
    return gate(suites.side(before), suites.side(now))


def timed(before: list[float], now: list[float], **more: object) -> GateResult:
    return held(suites.case(times={ERROR: before}), suites.case(times={ERROR: now}, **more))  # type: ignore[arg-type]


def the_one(gated: GateResult) -> AssessedDifference:
    (case,) = gated.compared
    return case.assessed[0]


@given(TIMES, st.integers(0, 3), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_equal_runs_are_never_an_alarm_in_whatever_order(times: list[float], failed: int, random: object) -> None:
    there = suites.case(times={ERROR: times}, happened={"verdict": min(failed, len(times))})
    shuffled = sorted(times, key=lambda _: random.random())  # type: ignore[attr-defined]
    gated = held(there, replace(there, samples=suites.case(times={ERROR: shuffled}).samples))
    assert not gated.regressed
    assert not gated.inconclusive
    assert [case.assessment for case in gated.compared] == ["unchanged"]


@given(TIMES, TIMES)
@settings(max_examples=40)
def test_the_order_of_cases_changes_nothing(before: list[float], now: list[float]) -> None:
    first = (suites.case("a", times={ERROR: before}), suites.case("b", times={ERROR: now}))
    second = (suites.case("a", times={ERROR: now}), suites.case("b", times={ERROR: before}))
    one = gate(suites.side(*first), suites.side(*second))
    other = gate(suites.side(*reversed(first)), suites.side(*reversed(second)))
    assert one.compared == other.compared


@given(st.lists(st.floats(0.5, 3.0), min_size=10, max_size=24), st.floats(0, 3), st.floats(0, 3))
@settings(max_examples=40)
def test_more_effect_is_never_less_alarm(times: list[float], less: float, more: float) -> None:
    assessment = [the_one(timed(times, [time + added for time in times])).assessment for added in (less, less + more)]
    assert SEVERITY.index(assessment[0]) >= SEVERITY.index(assessment[1]) or "better" in assessment


def test_a_slow_down_above_the_floor_is_an_alarm_and_one_below_is_none() -> None:
    before = suites.spread(2.0)
    assert the_one(timed(before, suites.spread(2.30))).assessment == "regression"
    below = timed(before, suites.spread(2.09))
    assert the_one(below).assessment == "unchanged"
    assert not below.inconclusive
    assert the_one(timed(before, suites.spread(1.7))).assessment == "better"


def test_the_floor_can_be_declared() -> None:
    before, now = suites.spread(2.0), suites.spread(2.09)
    narrow = gate(
        suites.side(suites.case(times={ERROR: before})),
        suites.side(suites.case(times={ERROR: now})),
        floor=parse_floor("10ms"),
    )
    assert narrow.regressed
    assert str(narrow.floor) == "0% + 10ms"
    declared = replace(suites.side(suites.case(times={ERROR: before})), floor=parse_floor("1%"))
    assert gate(declared, suites.side(suites.case(times={ERROR: now}))).regressed


def test_the_labs_own_lateness_is_no_clients_doing() -> None:
    """Timers that came 200 ms late on one side explain 150 ms."""
    gated = timed(suites.spread(1.0), suites.spread(1.15), timer_lag_s=0.2)
    assert the_one(gated).assessment == "unchanged"
    assert the_one(timed(suites.spread(1.0), suites.spread(1.15))).assessment == "regression"


def test_too_few_runs_say_nothing_but_how_many_it_takes() -> None:
    gated = timed([2.0, 2.001, 2.002], [9.0, 9.001, 9.002])
    assert gated.inconclusive
    assert not gated.regressed
    runs_needed = the_one(gated).runs_needed
    assert runs_needed is not None
    assert runs_needed >= MIN_RUNS
    enough = timed(suites.spread(2.0, runs_needed), suites.spread(9.0, runs_needed))
    assert the_one(enough).assessment == "regression"


def test_a_case_of_which_nothing_was_measured_takes_runs_too() -> None:
    few, many = suites.case(counted=2), suites.case(counted=MIN_RUNS)
    assert held(few, few).inconclusive
    assert not held(many, many).inconclusive
    failing = suites.case(counted=2, happened={"fails probe": 2})
    assert held(few, failing).regressed


@pytest.mark.parametrize(("now_s", "first", "then"), [(9.75, "unsure", "regression"), (9.31, "noted", "unchanged")])
def test_what_is_uncertain_needs_about_as_many_runs_as_it_says(now_s: float, first: str, then: str) -> None:
    """The floor is 0.47 s: what lies above it may be an alarm, what lies below it is only noted."""
    gated = timed(suites.spread(9.0, step_s=0.1), suites.spread(now_s, step_s=0.1))
    one = the_one(gated)
    assert (one.assessment, gated.inconclusive) == (first, first == "unsure")
    assert not gated.regressed
    assert one.runs_needed is not None
    runs = 2 * one.runs_needed
    again = timed(suites.spread(9.0, runs, step_s=2 / runs), suites.spread(now_s, runs, step_s=2 / runs))
    assert the_one(again).assessment == then


def test_one_stray_run_is_no_alarm() -> None:
    assert the_one(timed(suites.spread(2.0), [*suites.spread(2.0, 19), 45.0])).assessment == "unchanged"


def test_times_that_do_not_end_are_above_all_that_do() -> None:
    before = suites.case(times={ERROR: suites.spread(2.0)})
    hung = suites.case(
        times={ERROR: []}, censored={ERROR: [60.0] * 20}, happened={"hangs probe": 20, "fails probe": 20}
    )
    gated = held(before, hung)
    (case,) = gated.cases_assessed("regression")
    told = [str(one.of.symptom) for one in case.differences_assessed("regression") if not isinstance(one.of, Shift)]
    assert told[0] == "hangs probe"
    (shift,) = [one.of for one in case.differences_assessed("regression") if isinstance(one.of, Shift)]
    assert shift.now_endless
    assert shift.shift == pytest.approx(58.0, abs=0.01)
    assert not held(hung, hung).regressed
    assert not held(hung, before).regressed


def test_one_lost_or_doubled_message_is_an_alarm_where_there_was_none() -> None:
    clean = suites.case(times={ERROR: suites.spread(2.0)})
    for symptom in ("lost", "duplicated"):
        spoilt = replace(clean, happened=suites.case(happened={symptom: 1}).happened)
        assert held(clean, spoilt).regressed
        assert not held(spoilt, spoilt).regressed
        assert not held(spoilt, clean).regressed


@pytest.mark.parametrize("symptom", ["verdict", "fails probe", "hangs probe", "error probe io.EOF"])
def test_what_happens_in_every_run_and_never_did_is_an_alarm_what_happens_once_is_not(symptom: str) -> None:
    clean = suites.case(times={ERROR: suites.spread(2.0)})

    def happened(times: int) -> CaseRuns:
        return replace(clean, happened=suites.case(happened={symptom: times}).happened)

    assert held(clean, happened(20)).regressed
    once = held(clean, happened(1))
    assert not once.regressed
    assert once.inconclusive
    assert (the_one(once).runs_needed or 0) > 20
    assert not held(happened(10), happened(11)).inconclusive
    assert not held(happened(20), clean).inconclusive


def test_another_error_instead_of_a_hang_is_no_regression_another_one_is() -> None:
    hung = suites.case(happened={"hangs probe": 20, "fails probe": 20}, counted=20)
    eof = suites.case(happened={"error probe io.EOF": 20, "fails probe": 20}, counted=20)
    other = suites.case(happened={"error probe net.OpError": 20, "fails probe": 20}, counted=20)
    assert not held(hung, eof).regressed
    assert held(eof, other).regressed


def test_one_more_dial_in_every_run_is_an_alarm_and_explains_a_longer_time() -> None:
    before = suites.case(times={ERROR: suites.spread(2.0)}, counts={"probe.dials": [4] * 20})
    more = suites.case(times={ERROR: suites.spread(2.0)}, counts={"probe.dials": [5] * 20})
    slower = suites.case(times={ERROR: suites.spread(3.0)}, counts={"probe.dials": [6] * 20})
    assert held(before, more).regressed
    (case,) = held(before, slower).cases_assessed("regression")
    assert isinstance(case.assessed[0].of, Shift)
    assert case.assessed[0].of.unit == "s"
    assert case.where == ("2 more dials",)


def test_a_setting_that_was_changed_explains_a_longer_time() -> None:
    before = replace(suites.case(times={ERROR: suites.spread(2.0)}), settings={"Net.DialTimeout": "1s"})
    after = replace(suites.case(times={ERROR: suites.spread(4.0)}), settings={"Net.DialTimeout": "2s"})
    (case,) = held(before, after).cases_assessed("regression")
    assert case.where == ("Net.DialTimeout 1s -> 2s",)


def test_a_time_that_is_told_no_more_is_not_as_good_as_it_was() -> None:
    before = suites.case(times={"outage.recovery": suites.spread(1.0)})
    silent = suites.case(times={ERROR: suites.spread(1.0)})
    gated = held(before, silent)
    assert gated.inconclusive
    assert not gated.regressed


def test_lost_new_and_silent_cases_are_told_apart() -> None:
    here = suites.case("here", times={ERROR: suites.spread(2.0)})
    gone = suites.case("gone", times={ERROR: suites.spread(2.0)})
    fresh = suites.case("fresh", times={ERROR: suites.spread(2.0)})
    gated = gate(suites.side(here, gone), suites.side(here, fresh))
    assert [case.key.scenario for case in gated.lost] == ["gone"]
    assert [case.key.scenario for case in gated.new] == ["fresh"]
    assert gated.regressed
    spoilt = replace(here, counted=0, samples={}, reasons=("the machine was too noisy",))
    quiet = gate(suites.side(here), suites.side(spoilt))
    assert quiet.inconclusive
    assert not quiet.regressed
    assert [one.spoilt.reasons for one in quiet.silent] == [("the machine was too noisy",)]


def test_two_machines_are_not_compared_but_virtual_time_is_the_same_everywhere() -> None:
    here = suites.case(times={ERROR: suites.spread(2.0)})
    gated = gate(suites.side(here), suites.side(here, machine="another"))
    assert gated.other_machine
    assert gated.inconclusive
    assert not gated.compared
    simulated = replace(here, key=here.key._replace(environment="sim"))
    assert gate(suites.side(simulated), suites.side(simulated, machine="another")).compared


def test_an_operation_that_is_called_no_more_is_not_as_good_as_it_was() -> None:
    """A step that was renamed takes all its measures along: nothing of it was compared, so nothing is unchanged."""
    before = suites.case(times={ERROR: suites.spread(2.0)})
    renamed = replace(suites.case(times={"other.time_to_error": suites.spread(9.0)}), operations=("other",))
    gated = held(before, renamed)
    assert gated.inconclusive
    assert not gated.regressed
    change = the_one(gated).of
    assert not isinstance(change, Shift)
    assert (str(change.symptom), change.now, change.of_now) == ("uncalled probe", 20, 20)
    more = replace(before, operations=("probe", "other"))
    assert not held(before, more).inconclusive, "one operation more is no less"
