"""Reads a scenario from a file, or finds all of its problems."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from harness.language.format_version import has_other_format
from harness.language.formula_library import FormulaLibrary
from harness.language.matrix import cells
from harness.language.resolve import resolve
from harness.language.scenario import Scenario
from harness.language.schema import ScenarioFile
from harness.language.setting_overrides import with_overrides
from harness.language.validation import parse_model
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.files import text_of
from harness.language.yaml.problems import Problem, Problems
from harness.language.yaml.tree import InvalidYaml, MappingNode, ScalarNode, parse
from harness.plan import RunPlan

NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


def load(path: Path, settings: Mapping[str, str] = NO_SETTINGS) -> Scenario:
    """Read and check a scenario. Raises Problems with all of them, sorted by place.

    `settings` replace or add to those of the file, each as the file would write it.
    """
    return loads(text_of(path), path, settings)


def loads(source: str, path: Path, settings: Mapping[str, str] = NO_SETTINGS) -> Scenario:
    """The same for a text; `path` names it, and formulas.yaml is looked for beside it. Raises Problems."""
    try:
        tree, spelling_problems = parse(source, path)
    except InvalidYaml as error:
        raise Problems(error.problems, {path: source}) from error
    diagnostics = Diagnostics(path)
    library = FormulaLibrary(path.parent)
    plans: list[RunPlan] = []
    if not isinstance(tree, MappingNode):
        parse_model(ScenarioFile, tree, diagnostics)
    elif not has_other_format(tree, diagnostics):
        for cell in cells(with_overrides(tree, settings, diagnostics), diagnostics):
            # What an option changes is no mistake of the file's.
            plan = resolve(cell, path, diagnostics, library, unfailing=not settings)
            if plan is not None:
                plans.append(plan)
    problems = [*spelling_problems, *_new(diagnostics.problems, spelling_problems), *library.problems]
    if problems:
        raise Problems(problems, {path: source, **library.sources})
    assert isinstance(tree, MappingNode)
    assert plans, "a scenario without problems has a plan"
    repeat = tree.get("repeat")
    return Scenario(
        path=path, name=plans[0].scenario, about=plans[0].about, tags=plans[0].tags, cells=tuple(plans),
        repeat=repeat.value if isinstance(repeat, ScalarNode) and isinstance(repeat.value, int) else 1,
    )  # fmt: skip


def _new(problems: list[Problem], spelling_problems: tuple[Problem, ...]) -> list[Problem]:
    """Problems at places that have none yet: a value that is misspelt is not also reported as of the wrong type."""
    places = {problem.place for problem in spelling_problems}
    return [problem for problem in problems if problem.place not in places]
