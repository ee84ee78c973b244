"""Protects what pytest finds: a test for each case, with ids that stay, chosen as any other test is; mistakes shown."""

import ast
import sys
from pathlib import Path

import pytest
from project import Project, scenario

pytestmark = pytest.mark.ci

ROOT = Path(__file__).parents[2]
RETRIES = "{settings.Producer.Retry.Max: [0, 1], client.bootstrap: [[1], [1, dark]]}"


def names(out: str) -> list[str]:
    return [line.partition("::")[2] for line in out.splitlines() if "::" in line]


def test_each_case_is_a_test_with_a_readable_id(project: Project) -> None:
    project.write("lab/one.scenario.yaml", scenario("one", matrix=RETRIES))
    project.write("lab/two.scenario.yaml", scenario("two"))
    done = project.pytest("--collect-only", "-q")
    assert done.code == 0, done.out
    told = [
        "one[Producer.Retry.Max=0,bootstrap=1]",
        "one[Producer.Retry.Max=0,bootstrap=1+dark]",
        "one[Producer.Retry.Max=1,bootstrap=1]",
        "one[Producer.Retry.Max=1,bootstrap=1+dark]",
        "two",
    ]
    assert names(done.out) == told
    assert not list(project.path.rglob("results")), "collecting runs nothing"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (("-k", "two"), ["two"]),
        (("-k", "nightly"), ["one[Producer.Retry.Max=0]", "one[Producer.Retry.Max=1]"]),
        (("-k", "sarama and not nightly"), ["two"]),
        (("lab/one.scenario.yaml::one[Producer.Retry.Max=1]",), ["one[Producer.Retry.Max=1]"]),
        (("lab/one.scenario.yaml::one",), ["one[Producer.Retry.Max=0]", "one[Producer.Retry.Max=1]"]),
        (("--ignore=lab/one.scenario.yaml",), ["two"]),
        (("-p", "no:faultlab", "--co"), []),
    ],
    ids=["name", "tag", "tags", "id", "all-of-one", "ignored", "switched-off"],
)
def test_cases_are_chosen_as_any_test_is(project: Project, chosen: tuple[str, ...], expected: list[str]) -> None:
    project.write(
        "lab/one.scenario.yaml", scenario("one", tags="nightly", matrix="{settings.Producer.Retry.Max: [0, 1]}")
    )
    project.write("lab/two.scenario.yaml", scenario("two"))
    done = project.pytest("--collect-only", "-q", *chosen, env=None)
    assert names(done.out) == expected, done.out


def test_mistakes_are_collection_errors_in_faultlabs_own_words(project: Project) -> None:
    project.write("good.scenario.yaml", scenario("good"))
    project.write("lab/bad.scenario.yaml", scenario("bad", settings="{Net.DialTimeoutt: 1s, Net.ReadTimeout: 2}"))
    done = project.pytest("--continue-on-collection-errors")
    assert done.code == 1, done.out
    assert "lab/bad.scenario.yaml:6:12: error[unknown-setting]: sarama has no setting Net.DialTimeoutt\n" in done.out
    assert "  |            ^^^^^^^^^^^^^^^^ did you mean Net.DialTimeout?\n" in done.out
    assert "lab/bad.scenario.yaml:6:51: error[" in done.out, "all mistakes at once"
    assert "Traceback" not in done.out
    assert "pytest_faultlab.py" not in done.out
    assert done.outcomes == {"lab.bad.scenario.yaml": "error", "good": "passed"}


def test_a_mistake_in_the_formulas_beside_a_scenario_is_that_scenarios(project: Project) -> None:
    project.write("a/formulas.yaml", "format: 1\nformulas: {read: {formula: 3}}\n")
    project.write("a/one.scenario.yaml", scenario("one", bound="equals: formula(read), within: 50ms"))
    project.write("b/two.scenario.yaml", scenario("two"))
    done = project.pytest("--continue-on-collection-errors")
    assert done.outcomes == {"a.one.scenario.yaml": "error", "two": "passed"}, done.out
    assert "formulas" in done.cases["a.one.scenario.yaml"].text


def test_the_plugin_imports_nothing_that_could_meet_a_projects_packages() -> None:
    plugin = sorted(ROOT.glob("pytest_faultlab*.py"))
    assert ROOT / "pytest_faultlab.py" in plugin
    for file in plugin:
        tree = ast.parse(file.read_text())
        modules = {
            alias.name if isinstance(node, ast.Import) else str(node.module)
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        outside = {module.partition(".")[0] for module in modules} - set(sys.stdlib_module_names)
        assert outside <= {"pytest", *(one.stem for one in plugin)}, file
