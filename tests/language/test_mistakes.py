"""Protects that every mistake in a scenario is found before anything starts: at its place, with its code and a hint."""

from collections.abc import Callable
from pathlib import Path

import pytest
from mistakes import EXPECT, MISTAKES

from harness.language import Problems, condition_holds, loads, one_line, render, report
from harness.plan import RunPlan


@pytest.mark.parametrize(("change", "code", "underlined", "message", "hint"), MISTAKES)
def test_mistake(
    changed: Callable[..., object], change: tuple[str, str], code: str, underlined: str, message: str, hint: str
) -> None:
    scenario = changed(change)
    problem = scenario.only()
    assert problem.code == code, problem
    assert message in problem.message
    assert hint in problem.hint
    if underlined:
        assert scenario.underlined(problem).startswith(underlined), scenario.underlined(problem)


def test_no_wording_of_the_library_is_shown(changed: Callable[..., object]) -> None:
    problem = changed(("inject: blackhole,", "inject: old_broker,")).only()
    assert problem.message.startswith("says no versions")


def test_all_mistakes_come_at_once_in_the_order_of_the_file(changed: Callable[..., object]) -> None:
    scenario = changed(
        ("about: A", "abuot: A"),
        ("Net.ReadTimeout: 2s", "Net.Raed: 2s"),
        ("brokers: all, as", "brokers: [9], as"),
        ("probe.time_to_error", "prob.time_to_eror"),
        ("2*Net.ReadTimeout, within", "Net.Raed, withn"),
    )
    problems = scenario.problems()
    codes = [problem.code for problem in problems]
    assert codes == [
        "unknown-key", "unknown-setting", "no-such-broker", "unknown-alias", "unknown-measure",
        "unknown-name", "unknown-key",
    ]  # fmt: skip
    assert [p.line for p in problems] == sorted(p.line for p in problems)


def test_a_wrong_trigger_hides_no_other_mistake_of_its_step(changed: Callable[..., object]) -> None:
    wrong = (
        "inject: blackhole, brokers: all,",
        "inject: blackhole, brokers: [9], dely: 1s, trigger: {request: produce},",
    )
    codes = {problem.code for problem in changed(wrong).problems()}
    assert {"no-such-broker", "unknown-parameter", "missing-key"} <= codes


def test_a_mistake_in_one_expectation_hides_no_other_one_that_cannot_fail(changed: Callable[..., object]) -> None:
    wrong = f"""{{measure: probe.dials, claim: 3}}
  - {EXPECT.replace("1% + 50ms", "1000s")}
  - {{measure: probe.time_to_eror, at_least: 0s}}
  - {{measure: probe.time_to_error, at_least: 0s}}"""
    problems = changed((EXPECT, wrong)).problems()
    assert [problem.code for problem in problems] == ["missing-source", "cannot-fail", "unknown-measure", "cannot-fail"]


def test_a_wrong_key_of_a_step_hides_no_wrong_argument(changed: Callable[..., object]) -> None:
    wrong = ("do: send, as: probe", "do: send, as: probe, background: perhaps, partitoin: 1, size: many")
    codes = {problem.code for problem in changed(wrong).problems()}
    assert {"type", "unknown-argument", "quantity"} <= codes


def test_names_that_kafka_does_not_have_come_with_all_other_mistakes(changed: Callable[..., object]) -> None:
    scenario = changed(
        ("about: A", "abuot: A"),
        ("inject: blackhole, brokers: all,",
         "inject: error_answer, brokers: all, api: prodoce, code: NOT_LEADER, trigger: {request: fetsh, broker: 1},"),
        ("cluster: {brokers: 1,", "cluster: {brokers: 3,"),
    )  # fmt: skip
    problems = scenario.problems()
    assert [(problem.code, scenario.underlined(problem)) for problem in problems] == [
        ("unknown-key", "abuot"), ("unknown-api", "prodoce"), ("unknown-error", "NOT_LEADER"), ("unknown-api", "fetsh"),
    ]  # fmt: skip


def test_both_operands_of_a_unit_error_are_underlined(changed: Callable[..., object]) -> None:
    scenario = changed(("2*Net.ReadTimeout", "Net.ReadTimeout + Producer.Retry.Max"))
    shown = render(scenario.only(), scenario.text)
    marks = shown.splitlines()[-1]
    line = shown.splitlines()[-2]
    first, second = line.index("Net.ReadTimeout + "), line.index("Producer.Retry.Max")
    assert marks[first : first + 15] == "^" * 15
    assert marks[second : second + 18] == "^" * 18
    assert marks[first + 15 : second].strip() == ""


def test_the_first_line_stands_alone_and_the_rest_shows_the_place(changed: Callable[..., object]) -> None:
    scenario = changed(("Producer.Retry.Max: 1", "Producer.Retry.Maxx: 1"))
    problem = scenario.only()
    assert one_line(problem) == (
        "scenarios/sarama/test.scenario.yaml:6:76: error[unknown-setting]: sarama has no setting Producer.Retry.Maxx"
    )
    assert render(problem, scenario.text).splitlines()[1:] == [
        "  |",
        "6 | settings: {Net.DialTimeout: 1s, Net.ReadTimeout: 2s, Net.WriteTimeout: 3s, Producer.Retry.Maxx: 1}",
        "  |" + " " * 76 + "^^^^^^^^^^^^^^^^^^^ did you mean Producer.Retry.Max?",
    ]


def test_a_formula_folded_over_lines_is_underlined_where_it_stands(changed: Callable[..., object]) -> None:
    scenario = changed(
        ("- {measure: probe.time_to_error, equals: 2*Net.ReadTimeout, within: 1% + 50ms}",
         "- measure: probe.time_to_error\n    within: 50ms\n    equals: >-\n      2*Net.ReadTimeout\n      + Net.Dail"),
    )  # fmt: skip
    problem = scenario.only()
    assert (problem.line, scenario.underlined(problem)) == (17, "Net.Dail")


def test_long_lines_and_control_characters_are_shown_safely(changed: Callable[..., object]) -> None:
    scenario = changed(("about: A", "about: " + "x" * 300 + "\u202e"), ("tags: [test]", 'tags: [test, "a\\e[31m"]'))
    problems = scenario.problems()
    text = report(Problems(problems, {problems[0].path: scenario.text}))
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert all(len(line) < 180 for line in text.splitlines())


def test_an_alias_bomb_is_refused_quickly(changed: Callable[..., object]) -> None:
    bomb = "&a [x,x,x,x,x,x,x,x,x,x]"
    for name, before in zip("bcdefgh", "abcdefg", strict=True):
        bomb += f", &{name} [{','.join([f'*{before}'] * 10)}]"
    assert changed(("tags: [test]", f"tags: [{bomb}]")).only().code == "too-large"
    assert changed(("tags: [test]", "tags: &a [*a]")).only().code == "too-deep"
    assert changed(("tags: [test]", "tags: " + "[" * 3000)).only().code == "too-deep"


def test_a_mistake_in_formulas_yaml_is_shown_there(tmp_path: Path, changed: Callable[..., object]) -> None:
    (tmp_path / "formulas.yaml").write_text(
        "format: 1\nformulas:\n  mine:\n    about: x\n    sum:\n      - {term: 1s, meaning: a}\n"
        "      - {term: 2*Net.ReadTimeuot, meaning: b}\n    source: here\n"
    )
    text = changed(("2*Net.ReadTimeout", "formula(mine)")).text
    text += "matrix:\n  settings.Producer.Retry.Max: [0, 1]\n"  # the second case meets what the first has found
    with pytest.raises(Problems) as caught:
        loads(text, tmp_path / "a.scenario.yaml")
    (problem,) = caught.value.problems
    assert (problem.path.name, problem.line, problem.column) == ("formulas.yaml", 7, 18)
    assert "did you mean Net.ReadTimeout?" in report(caught.value)


def test_a_formula_without_its_file_is_missed_where_it_is_cited(tmp_path: Path, changed: Callable[..., object]) -> None:
    text = changed(("2*Net.ReadTimeout", "formula(mine)")).text
    with pytest.raises(Problems) as caught:
        loads(text, tmp_path / "a.scenario.yaml")
    (problem,) = caught.value.problems
    assert (problem.path.name, problem.line, problem.code) == ("a.scenario.yaml", 13, "unknown-formula")
    assert problem.message == (
        "there is no formula `mine`: looked in formulas.yaml beside this file (there is none)"
        " and in the formulas bundled for sarama"
    )


def test_formulas_yaml_of_a_newer_faultlab_is_not_read_on(tmp_path: Path, changed: Callable[..., object]) -> None:
    (tmp_path / "formulas.yaml").write_text("format: 2\nformulas:\n  mine: {of: a newer kind}\n")
    text = changed(("2*Net.ReadTimeout", "formula(mine)")).text
    with pytest.raises(Problems) as caught:
        loads(text, tmp_path / "a.scenario.yaml")
    (problem,) = caught.value.problems
    assert (problem.path.name, problem.line, problem.column, problem.code) == ("formulas.yaml", 1, 9, "format")
    assert problem.hint.startswith("upgrade faultlab")


def test_a_formula_s_condition_may_speak_of_the_formula_itself(tmp_path: Path, changed: Callable[..., object]) -> None:
    def cell(condition: str) -> RunPlan:
        (tmp_path / "formulas.yaml").write_text(
            "format: 1\nformulas:\n  mine:\n    about: x\n"
            f"    holds_when: {condition}\n    sum:\n      - {{term: 2*Net.ReadTimeout, meaning: a}}\n"
            "      - {term: Net.DialTimeout, meaning: b}\n    source: here\n"
        )
        return loads(text, tmp_path / "a.scenario.yaml").cells[0]

    text = changed(("2*Net.ReadTimeout", "formula(mine)")).text
    for condition, holds in (("sum < 1h", True), ("Producer.Retry.Max >= 0 and 3*sum < 3s", False)):
        plan = cell(condition)
        when = next(e.when for e in plan.expectations if e.when and "2*Net.ReadTimeout + Net.DialTimeout" in e.when)
        assert condition_holds(when, plan) is holds
    for condition, place, said in (
        ("sum < 3", (5, 17), "unit"), ("sums < 3s", (5, 17), "unknown-name"), ("sum.x < 3s", (5, 17), "unknown-name"),
    ):  # fmt: skip
        with pytest.raises(Problems) as caught:
            cell(condition)
        (problem,) = caught.value.problems
        assert (problem.path.name, problem.line, problem.column, problem.code) == ("formulas.yaml", *place, said)


def test_a_deadline_of_an_operation_without_that_argument_is_one_problem(changed: Callable[..., object]) -> None:
    with_close = changed(
        ("as: probe, give_up_after: 60s}", "as: probe, give_up_after: 60s}\n  - {do: close, deadline: 1s}")
    )
    assert [problem.code for problem in with_close.problems()] == ["unknown-argument"]  # type: ignore[attr-defined]
