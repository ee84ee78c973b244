"""Protects which cases of two suites are compared, and what stands aside: spoilt cases, unfinished suites, machines."""

from dataclasses import replace

import pytest
import suites

from harness.comparing.cases import SuiteRuns
from harness.comparing.shifts import MIN_RUNS
from harness.gating.gate import gate, too_few

ERROR = "probe.time_to_error"


@pytest.mark.parametrize("spoilt", ["before", "now"])
def test_a_case_without_a_conclusive_run_is_told_beside_those_that_passed(spoilt: str) -> None:
    here = suites.case("here", times={ERROR: suites.spread(2.0)})
    whole = suites.case("whole", times={ERROR: suites.spread(2.0)})
    silent = replace(here, counted=0, samples={}, reasons=("the machine was too noisy",))
    sides = [suites.side(here, whole), suites.side(here, whole)]
    sides[spoilt == "now"] = suites.side(silent, whole)
    gated = gate(*sides)
    assert [one.key.scenario for one in gated.compared] == ["whole"]
    assert [(one.spoilt is one.now) for one in gated.silent] == [spoilt == "now"]
    assert gated.inconclusive
    assert not gated.regressed
    assert gated.expected == 2


def test_what_an_unfinished_suite_has_not_run_is_neither_lost_nor_passed() -> None:
    one, two = (suites.case(name, times={ERROR: suites.spread(2.0)}) for name in ("one", "two"))
    cut = replace(suites.side(one), unfinished="20 of 40 runs are missing")
    gated = gate(suites.side(one, two), cut)
    assert (gated.lost, gated.inconclusive, gated.regressed) == ((), True, False)
    assert [silent.key.scenario for silent in gated.silent] == ["two"]
    assert "20 of 40 runs are missing" in gated.silent[0].spoilt.reasons[0]
    nothing = gate(suites.side(one, two), replace(cut, cases=()))
    assert not nothing.compared
    assert not nothing.silent, "of a suite that never began nothing is under way"


def on(machine: str, environment: str) -> SuiteRuns:
    case = suites.case(times={ERROR: suites.spread(2.0)})
    return suites.side(replace(case, key=case.key._replace(environment=environment)), machine=machine)


@pytest.mark.parametrize(("first", "second"), [("sim", "local"), ("local", "sim"), ("local", "local")])
def test_one_side_on_virtual_time_does_not_make_two_machines_one(first: str, second: str) -> None:
    assert gate(on("here", first), on("there", second)).other_machine
    assert not gate(on("here", first), on("here", second)).other_machine


@pytest.mark.parametrize(
    ("before", "now", "few"), [(MIN_RUNS - 1, 20, True), (20, MIN_RUNS - 1, True), (MIN_RUNS, MIN_RUNS, False)]
)
def test_want_of_runs_is_told_from_doubt(before: int, now: int, few: bool) -> None:
    sides = [suites.case(times={ERROR: suites.spread(at, runs)}) for at, runs in ((2.0, before), (9.0, now))]
    wide = [suites.case(f"wide-{n}", times={ERROR: [1.0, 1.5, 2.0, 2.5, 3.0]}) for n in range(9)]
    gated = gate(suites.side(sides[0], *wide), suites.side(sides[1], *wide))
    (one,) = gated.cases_assessed("unsure")
    assert too_few(one) is few


def test_cases_are_told_in_the_order_of_their_names() -> None:
    """Whatever order they ran in: the same two suites give the same text on every day."""
    names = [f"case-{number}" for number in range(9)]
    some = suites.side(*(suites.case(name, times={ERROR: suites.spread(2.0)}) for name in reversed(names)))
    other = suites.side(suites.case("other", times={ERROR: suites.spread(2.0)}))
    assert [case.key.scenario for case in gate(some, other).lost] == names
    assert [case.key.scenario for case in gate(other, some).new] == names
    assert [one.key.scenario for one in gate(some, some).compared] == names
