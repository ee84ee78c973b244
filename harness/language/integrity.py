"""Whether a scenario needs the broker's log, and whether messages in that log could be told apart."""

from harness.formulas import run_conditions as conditions
from harness.language.schema import ScenarioFile
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.problems import Span
from harness.language.yaml.tree import MappingNode, SequenceNode, Tree, at
from harness.measures import MEASURES
from harness.measures import parse as parse_measure
from harness.operations import OPERATIONS
from harness.plan import PlannedOperation, RunPlan


def needs_log(plan: RunPlan, scenario_file: ScenarioFile) -> bool:
    """By `integrity: true`, or because something that it expects takes the log."""
    named = [one.measure for one in plan.expectations]
    named += [one.of for one in plan.statistics if one.statistic != "share"]
    asked = any(MEASURES[parse_measure(name).measure].integrity for name in named)
    counted = any(conditions.needs_log(one.of, plan) for one in plan.statistics if one.statistic == "share")
    return scenario_file.integrity or asked or counted


def check_distinct_values(plan: RunPlan, tree: Tree | None, diagnostics: Diagnostics) -> bool:
    """Whether every step sends a different value. Steps that do not are reported."""
    senders: dict[object, str] = {}
    alike = 0
    for step in plan.steps:
        if not isinstance(step, PlannedOperation) or OPERATIONS[step.operation].op is None:
            continue
        value = OPERATIONS[step.operation].command(step, plan).get("value")
        if value is None:
            continue
        if value in senders:
            alike += 1
            message = f"`{step.alias}` sends the same value as `{senders[value]}`: the log cannot tell them apart"
            diagnostics.add(_place(step, tree), "same-value", message, "choose another value, or a larger size")
        senders.setdefault(value, step.alias)
    return not alike


def _place(step: PlannedOperation, tree: Tree | None) -> Span:
    """The place of the step's value or size, else of the step."""
    items = tree.items if isinstance(tree, SequenceNode) else ()
    mine = next((item for item in items if item.span.line == step.line), None)
    assert mine is not None, "a plan's steps come from the file"
    keys = [key for key in ("value", "size") if isinstance(mine, MappingNode) and key in mine.entries]
    return at(mine, (keys[0],)) if keys else mine.span
