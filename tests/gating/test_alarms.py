"""Protects what makes an alarm: a clear order and an effect, both; among how many tests; and what is told first."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import suites

from harness.comparing.cases import CaseRuns
from harness.comparing.shifts import MIN_RUNS, Shift
from harness.gating.assessment import ComparedCase
from harness.gating.gate import GateResult, gate

ERROR = "probe.time_to_error"
WIDE = [1.0, 1.5, 2.0, 2.5, 3.0]
"""Of no use as a test, but one that counts: chance alone could make an order of these runs an alarm."""


def one_of(*, tests: int, now: Sequence[float]) -> ComparedCase:
    """The case `slow` of 5 + 5 runs, among so many tests in all; its clearest order comes by chance once in 252."""
    steady = [suites.case(f"steady-{number}", times={ERROR: WIDE}) for number in range(tests - 1)]
    before = suites.case("slow", times={ERROR: suites.spread(2.0, MIN_RUNS)})
    gated = gate(suites.side(before, *steady), suites.side(suites.case("slow", times={ERROR: now}), *steady))
    return next(one for one in gated.compared if one.key.scenario == "slow")


@pytest.mark.parametrize(
    ("tests", "assessment"), [(1, "regression"), (2, "regression"), (3, "unsure"), (60, "unsure"), (66, "unchanged")]
)
def test_the_more_is_tested_the_clearer_an_order_must_be(tests: int, assessment: str) -> None:
    """1 in 252 is an alarm (1 %) of two tests, not of three; a doubt (25 %) of sixty, not of sixty-six."""
    found = one_of(tests=tests, now=suites.spread(4.0, MIN_RUNS))
    assert found.assessment == assessment
    (told,) = found.assessed
    assert isinstance(told.of, Shift)
    assert told.of.chance == pytest.approx(1 / 252)
    if assessment != "unchanged":
        assert told.q_value == pytest.approx(tests / 252)


def test_what_has_too_few_runs_counts_for_no_test() -> None:
    """It could be no alarm whatever was measured: 1 in 252 of two tests stays one beside it."""
    few = [suites.case(f"few-{number}", times={ERROR: WIDE[: MIN_RUNS - 1]}) for number in range(3)]
    was = [suites.case("slow", times={ERROR: suites.spread(2.0, MIN_RUNS)}), *few]
    now = [suites.case("slow", times={ERROR: suites.spread(4.0, MIN_RUNS)}), *few]
    gated = gate(suites.side(*was), suites.side(*now))
    assert [one.key.scenario for one in gated.cases_assessed("regression")] == ["slow"]


def test_a_clear_order_without_a_sure_effect_is_no_alarm() -> None:
    """Every run is later than any was; half of them by less than the floor of 120 ms."""
    before = suites.case(times={ERROR: suites.spread(2.0)})
    now = suites.case(times={ERROR: [*suites.spread(2.10, 10), *suites.spread(2.20, 10)]})
    (found,) = gate(suites.side(before), suites.side(now)).compared
    (told,) = found.assessed
    assert isinstance(told.of, Shift)
    assert told.of.chance < 1e-9
    assert told.of.interval is not None
    assert told.of.interval.low < told.of.floor < told.of.interval.high
    assert told.assessment == "unsure"


def happened(times: int, name: str = "one", *, kind: str = "verdict", runs: int = 20) -> CaseRuns:
    return suites.case(name, happened={kind: times} if times else {}, counted=runs)


def held(before: CaseRuns, now: CaseRuns) -> GateResult:
    return gate(suites.side(before), suites.side(now))


@pytest.mark.parametrize(
    ("before", "now", "assessment", "tested"),
    [
        (0, 20, "regression", False),
        (0, 10, "regression", True),
        (3, 15, "regression", True),
        (3, 10, "unsure", True),
        (10, 11, "unchanged", False),
        (20, 20, "unchanged", False),
        (3, 0, "unchanged", False),
        (20, 3, "better", False),
    ],
)
def test_what_happens_in_more_runs_than_before(before: int, now: int, assessment: str, tested: bool) -> None:
    (found,) = held(happened(before), happened(now)).compared
    (told,) = found.assessed
    assert (told.assessment, told.q_value is not None) == (assessment, tested)


def test_so_many_runs_as_it_says_would_show_it() -> None:
    runs_needed = held(happened(0), happened(1)).compared[0].assessed[0].runs_needed
    assert runs_needed is not None
    assert held(happened(0, runs=runs_needed), happened(round(runs_needed / 20), runs=runs_needed)).regressed
    fewer = round(runs_needed * 0.8)
    assert not held(happened(0, runs=fewer), happened(round(fewer / 20), runs=fewer)).regressed


def test_more_runs_than_anybody_makes_are_not_asked_for() -> None:
    told = held(happened(400, runs=1000), happened(430, runs=1000)).compared[0].assessed[0]
    assert (told.assessment, told.runs_needed) == ("unsure", None)


def test_what_needs_no_test_makes_no_other_test_easier() -> None:
    """A case that fails in every run now is plain; 1 in 252 among three tests stays unsure beside it."""
    steady = [suites.case(f"steady-{number}", times={ERROR: WIDE}) for number in range(2)]
    was = [suites.case("slow", times={ERROR: suites.spread(2.0, MIN_RUNS)}), happened(0, "failing"), *steady]
    now = [suites.case("slow", times={ERROR: suites.spread(4.0, MIN_RUNS)}), happened(20, "failing"), *steady]
    assessment = {one.key.scenario: one.assessment for one in gate(suites.side(*was), suites.side(*now)).compared}
    assert (assessment["failing"], assessment["slow"]) == ("regression", "unsure")


def test_what_no_order_of_the_runs_could_show_counts_for_no_test() -> None:
    """It failed in every run and still does; its time is as it was, to a millisecond: neither is a test."""
    others = [happened(20, "failing"), suites.case("exact", times={ERROR: suites.spread(2.0, MIN_RUNS)})]
    steady = suites.case("steady", times={ERROR: WIDE})
    was = [suites.case("slow", times={ERROR: suites.spread(2.0, MIN_RUNS)}), *others, steady]
    now = [suites.case("slow", times={ERROR: suites.spread(4.0, MIN_RUNS)}), *others, steady]
    assessment = {one.key.scenario: one.assessment for one in gate(suites.side(*was), suites.side(*now)).compared}
    assert assessment == {"slow": "regression", "failing": "unchanged", "exact": "unchanged", "steady": "unchanged"}


def test_what_an_operation_did_that_only_one_side_calls_is_no_change() -> None:
    with_other = replace(happened(0), operations=("probe", "other"))
    failing = replace(with_other, happened=happened(20, kind="fails other").happened)
    assert not held(happened(0), failing).regressed
    assert held(with_other, failing).regressed
    assert not any(one.assessment == "regression" for one in held(failing, happened(0)).compared[0].assessed)


RECOVERY = "outage.recovery"


@pytest.mark.parametrize(
    ("before", "now", "assessment"),
    [
        ((20, 20), (20, 20), "unchanged"),
        ((20, 20), (10, 20), "unsure"),
        ((20, 20), (10, 10), "unchanged"),
        ((10, 20), (20, 40), "unchanged"),
        ((10, 20), (5, 10), "unchanged"),
        ((10, 20), (20, 20), "unchanged"),
        ((5, 20), (0, 20), "unsure"),
    ],
)
def test_a_recovery_that_fewer_of_the_runs_tell(before: tuple[int, int], now: tuple[int, int], assessment: str) -> None:
    """(told, counted) on both sides. A time that is told less is nothing worse, so it never alarms."""
    sides = [
        suites.case(times={RECOVERY: suites.spread(1.0, told)} if told else {}, counted=counted)
        for told, counted in (before, now)
    ]
    (found,) = held(*sides).compared
    assert found.assessment == assessment


def test_the_gravest_comes_first() -> None:
    """Losses before failures, those before times, what a caller waits for before the rest, counts last."""
    fast = {ERROR: 2.0, "outage.recovery": 1.0, "probe.time_to_ack": 1.0}
    was = suites.case(times={name: suites.spread(s) for name, s in fast.items()}, counts={"probe.dials": [4] * 20})
    slow = {ERROR: 3.0, "outage.recovery": 9.0, "probe.time_to_ack": 2.0}
    worse = suites.case(
        times={name: suites.spread(s) for name, s in slow.items()}, counts={"probe.dials": [400] * 20},
        happened={"verdict": 20, "lost": 1},
    )  # fmt: skip
    (found,) = held(was, worse).compared
    told = [one.of.measure if isinstance(one.of, Shift) else str(one.of.symptom) for one in found.assessed]
    ranks = [{"lost"}, {"verdict"}, {"probe.time_to_ack", ERROR}, {"outage.recovery"}, {"probe.dials"}]
    by_rank = sorted(told, key=lambda name: next(place for place, rank in enumerate(ranks) if name in rank))
    assert told == by_rank, "whatever the order inside a rank"
    assert set(told) == set.union(*ranks)


def test_the_larger_shift_and_what_happens_more_often_come_first() -> None:
    names = ("by-one", "by-three", "by-two")
    was = [suites.case(name, times={ERROR: suites.spread(2.0)}) for name in names]
    was += [happened(0, "a"), happened(0, "b", runs=10)]
    now = [suites.case(n, times={ERROR: suites.spread(s)}) for n, s in zip(names, (3.0, 5.0, 4.0), strict=True)]
    now += [happened(12, "a"), happened(10, "b", runs=10)]
    gated, back = gate(suites.side(*was), suites.side(*now)), gate(suites.side(*now), suites.side(*was))
    worse = [one.key.scenario for one in gated.cases_assessed("regression")]
    better = [one.key.scenario for one in back.cases_assessed("better")]
    assert worse.index("b") < worse.index("a")
    for found in (worse, better):
        assert found.index("by-three") < found.index("by-two") < found.index("by-one")


def test_too_few_runs_on_one_side_are_too_few() -> None:
    few, many = suites.case(counted=MIN_RUNS - 1), suites.case(counted=20)
    assert held(few, many).inconclusive
    assert held(many, few).inconclusive


@pytest.mark.parametrize(("before", "now"), [(1, 20), (20, 1), (4, 1000), (1000, 4)])
def test_one_side_of_a_few_runs_is_never_an_alarm_however_clear(before: int, now: int) -> None:
    gated = held(
        suites.case(times={ERROR: suites.spread(2.0, before, step_s=0.0001)}),
        suites.case(times={ERROR: suites.spread(9.0, now, step_s=0.0001)}),
    )
    (told,) = gated.compared[0].assessed
    assert (told.assessment, gated.regressed) == ("unsure", False)
    assert told.runs_needed is not None
    assert told.runs_needed >= MIN_RUNS


def test_a_shift_is_as_large_as_it_is_in_floors() -> None:
    """One second more of two is graver than one and a half more of twenty."""
    was = {"long": 20.0, "short": 2.0}
    now = {"long": 21.5, "short": 3.0}
    sides = [
        suites.side(*(suites.case(n, times={ERROR: suites.spread(s)}) for n, s in of.items())) for of in (was, now)
    ]
    assert [one.key.scenario for one in gate(*sides).cases_assessed("regression")] == ["short", "long"]


@pytest.mark.parametrize(("tests", "runs"), [(3, 6), (60, 8)])
def test_the_runs_it_asks_for_could_be_an_alarm_among_all_tests(tests: int, runs: int) -> None:
    """The clearest order of 6 and 6 comes once in 924, of 8 and 8 once in 12,870."""
    (told,) = one_of(tests=tests, now=suites.spread(4.0, MIN_RUNS)).assessed
    assert (told.assessment, told.runs_needed) == ("unsure", runs)


@pytest.mark.parametrize(("before", "now"), [(0.2, 0.0), (0.0, 0.2), (0.2, 0.2)])
def test_a_side_that_was_late_widens_the_floor_whichever_it_was(before: float, now: float) -> None:
    sides = [suites.case(times={ERROR: suites.spread(s)}, timer_lag_s=late) for s, late in ((1.0, before), (1.15, now))]
    assert held(*sides).regressed is (before == now), "what was late on both sides alike explains no difference"
