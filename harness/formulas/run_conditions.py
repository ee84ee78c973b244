"""Conditions on a single run, as `share:` counts them: `probe.outcome == 'failed' and probe.dials > 4`.

They may name what a formula may, and what the run itself gave: each operation's outcome, error and measures.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, pairwise

from harness.formulas.evaluate import Formula, evaluate_condition
from harness.formulas.profiles import profile_of
from harness.formulas.scope import Scope, scope_of
from harness.formulas.syntax import FormulaError, dotted_name
from harness.formulas.values import FormulaValue, duration, number
from harness.measures import MEASURES, WHOLE_RUN, MeasureDefinition
from harness.operations import OPERATIONS
from harness.plan import PlannedFault, PlannedOperation, RunPlan, Unit
from harness.story import Outcome, WriteStatus
from harness.suggestions import did_you_mean

TEXT_VALUES: dict[str, tuple[str, ...]] = {
    "outcome": tuple(outcome.value for outcome in Outcome),
    "written": tuple(written.value for written in WriteStatus),
}
"""Facts of an operation that are one of few words. Comparing one with another word is an error."""
WORDS = {word: word for words in TEXT_VALUES.values() for word in words} | {"acknowledged": "ok"}
"""What is meant by a word that stands in a condition without quotes."""
TEXT_NAMES = (*TEXT_VALUES, "error", "error_class")


def available_names(plan: RunPlan) -> dict[str, Unit]:
    """What a run of this plan can be asked for, with its unit."""
    found: dict[str, Unit] = {}
    for step in plan.steps:
        if isinstance(step, PlannedOperation) and step.operation in OPERATIONS:
            operation = OPERATIONS[step.operation]
            texts = [text for text in TEXT_NAMES if text != "written" or operation.delivers]
            found |= {f"{step.alias}.{text}": "text" for text in texts}
            found |= _measures(step.alias, [m for m in MEASURES.values() if m.applies_to(operation)])
        elif isinstance(step, PlannedFault):
            found |= _measures(step.alias, [m for m in MEASURES.values() if m.faults])
    return found | _measures(WHOLE_RUN, [m for m in MEASURES.values() if m.run])


def needs_log(text: str, plan: RunPlan) -> bool:
    """Whether the condition takes the log, read once the world has settled."""
    log = {name for name, measure in MEASURES.items() if measure.integrity} | {"written"}
    names = available_names(plan)
    return any(name in names and name.rpartition(".")[2] in log for name in names_in(text))


def names_in(text: str) -> tuple[str, ...]:
    """The dotted names in a condition, each once. Raises FormulaError."""
    tree = Formula.parse(text).parsed.tree
    names = (dotted_name(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def first_missing_name(text: str, plan: RunPlan, values: Mapping[str, FormulaValue]) -> str | None:
    """The first thing that the condition asks of a run and that the run did not give, None where it gave all."""
    names = available_names(plan)
    return next((name for name in names_in(text) if name in names and name not in values), None)


def holds(text: str, plan: RunPlan, values: Mapping[str, FormulaValue]) -> bool:
    """Whether the condition holds in a run that gave these values. Raises FormulaError where one is missing."""
    return evaluate_condition(Formula.parse(text), _with(scope_of(plan, profile_of(plan.client)), values))


def check(text: str, plan: RunPlan, scope: Scope) -> None:
    """Raises FormulaError where the condition can have no meaning, whatever a run gives."""
    names = available_names(plan)
    formula = Formula.parse(text)
    try:
        evaluate_condition(formula, _with(scope, {name: _example(name, unit) for name, unit in names.items()}))
    except FormulaError as error:
        start, end = next(iter(error.marks), (0, 0))
        word = text[start:end]
        if error.code != "unknown-name" or word not in WORDS:
            raise
        raise FormulaError(
            error.code, error.message, f"put it in quotes: '{WORDS[word]}'", marks=error.marks
        ) from error
    for node, name, word in _compared(formula):
        kind = name.rpartition(".")[2]
        if name in names and kind in TEXT_VALUES and word not in TEXT_VALUES[kind]:
            hint = "write 'ok'" if word == "acknowledged" else did_you_mean(word, TEXT_VALUES[kind])
            raise FormulaError(
                "unknown-value", f"{name} is never '{word}'", hint, marks=(formula.parsed.mark(node),)
            )  # fmt: skip


def _measures(alias: str, measures: list[MeasureDefinition]) -> dict[str, Unit]:
    return {f"{alias}.{measure.name}": measure.unit for measure in measures if measure.argument is None}


def _with(scope: Scope, values: Mapping[str, FormulaValue]) -> Scope:
    # What formulas came to without these values holds no more.
    return replace(scope, other_names={**scope.other_names, **values}, known={})


def _example(name: str, unit: Unit) -> FormulaValue:
    if unit == "s":
        return duration(name, 1.0)
    return number(1.0) if unit == "count" else FormulaValue("text", "")


def _compared(formula: Formula) -> Iterator[tuple[ast.expr, str, str]]:
    """Every text that a name is compared with: its place, the name, the text."""
    for node in ast.walk(formula.parsed.tree):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, right in chain.from_iterable(((a, b), (b, a)) for a, b in pairwise(operands)):
                name = dotted_name(left)
                if name is not None and isinstance(right, ast.Constant) and isinstance(right.value, str):
                    yield right, name, right.value
