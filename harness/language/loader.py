"""From a file to a scenario, or to all that is wrong with it."""

from collections.abc import Mapping as AbstractMapping
from pathlib import Path
from types import MappingProxyType

from harness.language.files import text_of
from harness.language.formats import of_another_format
from harness.language.matrix import cells
from harness.language.notes import Notes
from harness.language.overriding import overridden
from harness.language.problems import Problem, Problems
from harness.language.resolve import Library, resolve
from harness.language.scenario import Scenario
from harness.language.schema import ScenarioFile
from harness.language.tree import Mapping, Scalar, Unreadable, parse
from harness.language.validation import validated
from harness.plan import RunPlan

NO_SETTINGS: AbstractMapping[str, str] = MappingProxyType({})


def load(path: Path, settings: AbstractMapping[str, str] = NO_SETTINGS) -> Scenario:
    """Read and check a scenario. Raises Problems with everything that is wrong, sorted by place.

    `settings` replace or add to those of the file, each as the file would write it.
    """
    return loads(text_of(path), path, settings)


def loads(source: str, path: Path, settings: AbstractMapping[str, str] = NO_SETTINGS) -> Scenario:
    """The same for a text; `path` names it, and formulas.yaml is looked for beside it. Raises Problems."""
    try:
        tree, misspelt = parse(source, path)
    except Unreadable as error:
        raise Problems(error.problems, {path: source}) from error
    notes = Notes(path)
    library = Library(path.parent)
    plans: list[RunPlan] = []
    if not isinstance(tree, Mapping):
        validated(ScenarioFile, tree, notes)
    elif not of_another_format(tree, notes):
        for cell in cells(overridden(tree, settings, notes), notes):
            plan = resolve(cell, path, notes, library)
            if plan is not None:
                plans.append(plan)
    problems = [*misspelt, *_new(notes.problems, misspelt), *library.notes.problems]
    if problems:
        raise Problems(problems, {path: source, **library.sources})
    assert isinstance(tree, Mapping)
    assert plans, "a scenario without problems has a plan"
    repeat = tree.get("repeat")
    return Scenario(
        path=path, name=plans[0].scenario, about=plans[0].about, tags=plans[0].tags, cells=tuple(plans),
        repeat=repeat.value if isinstance(repeat, Scalar) and isinstance(repeat.value, int) else 1,
    )  # fmt: skip


def _new(problems: list[Problem], misspelt: tuple[Problem, ...]) -> list[Problem]:
    """One mistake, one problem: what was misspelt is not also said to be of the wrong type."""
    places = {problem.place for problem in misspelt}
    return [problem for problem in problems if problem.place not in places]
