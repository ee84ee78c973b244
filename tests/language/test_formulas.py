"""Protects what formulas are judged by: units that never mix, names that are never guessed, terms that add up."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formulas.scope import Function, Scope
from harness.formulas.values import FormulaValue, duration
from harness.language import Formula, FormulaError, condition_holds, evaluate
from harness.plan import ResolvedValue, RunPlan

SCOPE = Scope(
    settings={"R": duration("R", 2.0, "R"), "D": duration("D", 1.0, "D"), "m": FormulaValue("count", 3.0)},
    other_names={"client.version": FormulaValue("text", "1.27.2"), "slow.delay": duration("slow.delay", 0.1)},
)


@pytest.fixture
def plan(changed: Callable[..., object]) -> RunPlan:
    found = changed().load().cells[0]
    assert isinstance(found, RunPlan)
    return found


def test_names_are_full_dotted_ends_or_in_quotes(plan: RunPlan) -> None:
    for text in ("Net.ReadTimeout", "ReadTimeout", 'setting("Net.ReadTimeout")'):
        assert evaluate(text, plan).value == 2.0
    assert evaluate("cluster.brokers + client.bootstrap.count", plan).value == 2.0


def test_a_setting_that_the_scenario_does_not_give_has_its_default(plan: RunPlan) -> None:
    text = "Metadata.Retry.Max*Metadata.Retry.Backoff + Producer.Retry.Backoff"
    assert evaluate(text, plan).number == pytest.approx(0.85)


def test_terms_gather_each_setting_however_the_formula_is_written(plan: RunPlan) -> None:
    found = evaluate("ReadTimeout + 2*(DialTimeout + ReadTimeout) - DialTimeout + 100ms", plan)
    assert [(t.text, t.setting, t.count, t.each, t.total) for t in found.terms] == [
        ("Net.ReadTimeout", "Net.ReadTimeout", 3.0, 2.0, 6.0),
        ("Net.DialTimeout", "Net.DialTimeout", 1.0, 1.0, 1.0),
        ("100ms", None, 1.0, 0.1, 0.1),
    ]
    assert found.value == pytest.approx(7.1)


def test_terms_of_a_count_are_its_addends(plan: RunPlan) -> None:
    found = evaluate("cluster.brokers - (1 - Metadata.Retry.Max)", plan)
    assert [(term.text, term.total) for term in found.terms] == [
        ("cluster.brokers", 1.0), ("-1", -1.0), ("Metadata.Retry.Max", 3.0),
    ]  # fmt: skip
    assert found.value == 3.0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("min(R, D, 3s)", 1.0), ("max(m, 7)", 7.0), ("ceil(R / 3s)", 1.0), ("floor(R / 3s)", 0.0), ("R / D", 2.0),
        ("2**m", 8.0), ("-R + 3*R", 4.0), ("1m30s", 90.0), ("2*slow.delay", 0.2), ("(R - D)*m", 3.0), ("R / 4", 0.5),
    ],
)  # fmt: skip
def test_arithmetic(text: str, value: float) -> None:
    assert Formula.parse(text).evaluate(SCOPE).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("client.version == '1.27.2'", True), ("client.version < '1.60.1'", True), ("client.version >= '1.9'", True),
        ("m >= 1 and not R == D", True), ("m == 0 or R != 2s", False), ("1 <= m <= 2", False), ("true", True),
        ("client.version == '1.27'", False), ("client.version >= '1.27.2.0'", True),
    ],
)  # fmt: skip
def test_conditions(text: str, holds: bool) -> None:
    assert Formula.parse(text).evaluate(SCOPE).value is holds


@pytest.mark.parametrize(
    "text",
    [
        "R + 1", "R * D", "1 / R", "R > 1", "R == 2", "client.version < 2", "client.version > 'x'", "not m",
        "m and true", "-true", "min(R, 1)", "min(R)", "ceil(R)", "R ** 2", "2 ** 0.5", "true < false",
        "client.version + 'a'",
    ],
)  # fmt: skip
def test_units_never_mix(text: str) -> None:
    with pytest.raises(FormulaError):
        Formula.parse(text).evaluate(SCOPE)


def test_an_error_does_not_hide_behind_a_condition() -> None:
    with pytest.raises(FormulaError, match="nothing is called X"):
        Formula.parse("m == 0 and X == 1").evaluate(SCOPE)


@pytest.mark.parametrize(
    "text",
    [
        "R.__class__", "R[0]", "(lambda: R)()", "[R]", "f'{R}'", "R if m else D", "R; D", "R := D", "exec('x')", "*R",
        "min(*[R])", "min(R, key=D)", "R @ D", "R // D", "R % D", "~m", "m in m", "m is m", "9**9**9", "10**1000",
        "1e400*m", "1j", "b'x'", "...", "None", "R +", "(" * 500, "-" * 5000 + "1", "1s1m", "ReadTimeout‮",
        "x.in.flight", "", " ", "a) + (b", "m\x00", "1__0", "0777",
    ],
)  # fmt: skip
def test_python_beyond_formulas_is_refused_without_being_run(text: str) -> None:
    with pytest.raises(FormulaError):
        Formula.parse(text).evaluate(SCOPE)


@given(st.text(alphabet=st.sampled_from("RDm0123456789.+-*/()<>=!,'\" smandort_[]{}:%\n"), max_size=60))
def test_any_text_is_a_formula_or_a_formula_error_with_marks_inside_it(text: str) -> None:
    try:
        found = Formula.parse(text).evaluate(SCOPE)
    except FormulaError as error:
        marks, found = error.marks, None
    else:
        marks = ()
    assert all(0 <= start <= end <= len(text) for start, end in marks)
    if found is not None and found.unit in ("s", "count"):
        assert sum(term.total for term in found.terms) == pytest.approx(found.number, abs=1e-6)


def test_functions_of_a_profile_have_units_by_their_names() -> None:
    def backoff_sum_s(settings: object, attempts: float, first_s: float) -> float:
        assert settings is not None
        return first_s * (2**attempts - 1)

    scope = replace(SCOPE, functions={"BackoffSum": Function.of(backoff_sum_s)})
    found = Formula.parse("R + 2*BackoffSum(m, 100ms)").evaluate(scope)
    assert (found.unit, found.value) == ("s", pytest.approx(3.4))
    for wrong in ("BackoffSum(m)", "BackoffSum(R, 100ms)", "BackofSum(m, 1s)", "BackoffSum(m, 1s) + 1"):
        with pytest.raises(FormulaError):
            Formula.parse(wrong).evaluate(scope)


def test_evaluating_needs_the_plan_alone(plan: RunPlan) -> None:
    changed = tuple(
        ResolvedValue(name=s.name, text="7s", unit="s", value=7.0) if s.name == "Net.ReadTimeout" else s
        for s in plan.settings
    )
    assert evaluate("2*ReadTimeout", replace(plan, settings=changed)).value == 14.0
    assert condition_holds("Producer.RequiredAcks == 'WaitForLocal' and outage.brokers == 'all'", plan)
    with pytest.raises(FormulaError, match="`when` is a condition"):
        condition_holds("ReadTimeout", plan)


@pytest.mark.parametrize(
    ("lasts", "formula", "code", "hint"),
    [
        (", for: 2s", "outage.for", "formula", "write outage.lasts"),
        (", for: 2s", "2*outage.for - 1s", "formula", "write outage.lasts"),
        (", for: 2s", "setting('outage.for')", "unknown-setting", "write outage.lasts"),
        ("", "outage.lasts", "unknown-name", "add `for:` to outage"),
        ("", "max.in.flight * 1s", "formula", 'write setting("max.in.flight")'),
    ],
)
def test_what_a_fault_s_for_is_called_in_formulas(
    changed: Callable[..., Any], lasts: str, formula: str, code: str, hint: str
) -> None:
    """`for` is a keyword to those who read formulas."""
    problem = changed(("as: outage}", f"as: outage{lasts}}}"), ("2*Net.ReadTimeout,", f"{formula},")).only()
    assert (problem.code, problem.hint) == (code, hint)
