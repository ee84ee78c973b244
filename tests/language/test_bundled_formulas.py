"""Where a cited formula is looked for: beside the scenario, then among those bundled for its client."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.language import Problems, load_formulas, loads

BUNDLED = Path(__file__).parents[2] / "scenarios" / "sarama" / "formulas.yaml"
MINE = """\
format: 1
formulas:
  established_blackhole:
    about: x
    sum:
      - {term: 3*Net.ReadTimeout, meaning: a}
    source: here
"""
FORMULA = "2*Net.ReadTimeout"


def test_a_scenario_in_any_folder_cites_the_formulas_of_its_client(
    tmp_path: Path, changed: Callable[..., object]
) -> None:
    text = changed((FORMULA, "formula(established_blackhole)")).text
    expectation = loads(text, tmp_path / "a.scenario.yaml").cells[0].expectations[0]
    bundled = load_formulas(BUNDLED)["established_blackhole"]
    assert (expectation.formula, expectation.name, expectation.when) == (bundled.text, bundled.name, bundled.holds_when)


def test_a_formula_beside_the_scenario_comes_before_a_bundled_one(
    tmp_path: Path, changed: Callable[..., object]
) -> None:
    (tmp_path / "formulas.yaml").write_text(MINE)
    for name, formula in (
        ("established_blackhole", "3*Net.ReadTimeout"),
        ("bootstrap_refused", load_formulas(BUNDLED)["bootstrap_refused"].text),
    ):
        text = changed((FORMULA, f"formula({name})")).text
        assert loads(text, tmp_path / "a.scenario.yaml").cells[0].expectations[0].formula == formula


def test_a_name_that_no_file_has_is_answered_with_the_nearest(tmp_path: Path, changed: Callable[..., object]) -> None:
    (tmp_path / "formulas.yaml").write_text(MINE)
    with pytest.raises(Problems) as caught:
        loads(changed((FORMULA, "formula(bootstrap_refusd)")).text, tmp_path / "a.scenario.yaml")
    (problem,) = caught.value.problems
    assert problem.message.endswith("looked in formulas.yaml beside this file and in the formulas bundled for sarama")
    assert problem.hint == "did you mean bootstrap_refused?"


def test_a_program_without_a_profile_has_no_bundled_formulas(tmp_path: Path, changed: Callable[..., object]) -> None:
    text = changed(
        ("{profile: sarama, version: 1.27.2, bootstrap: [1]}", "{driver: {exec: [./mine]}, name: mine}"),
        (FORMULA, "formula(established_blackhole)"),
    ).text
    with pytest.raises(Problems) as caught:
        loads(text, tmp_path / "a.scenario.yaml")
    messages = [problem.message for problem in caught.value.problems]
    assert any(message.endswith("looked in formulas.yaml beside this file (there is none)") for message in messages)
