"""A step that does an operation: its arguments and how it may end, as the registered operation has them."""

from typing import Literal, cast

from harness.language.schema import DoStep
from harness.language.validation import entries_beside, keys_of
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, ScalarNode, Tree, at
from harness.operations import OPERATIONS, Argument, Operation
from harness.plan import ClusterShape, PlannedOperation, RepeatUntil, StartCondition
from harness.quantities import QuantityError, duration_s, quote_value, size_bytes
from harness.suggestions import did_you_mean

Until = Literal["acknowledged", "ok", "failed"]
ExpectedOutcome = Until | None
Arguments = dict[str, str | int | float]
PATIENCE_S = 60.0
"""How long the lab waits for an operation without a `give_up_after` and of which no formula predicts more."""


def step_arguments(name: str, tree: MappingNode, cluster: ClusterShape | None, diagnostics: Diagnostics) -> Arguments:
    """What the step gives its operation: those without problems, which are reported."""
    definition = OPERATIONS[name]
    known = {argument.name: argument for argument in definition.arguments}
    arguments: Arguments = {}
    for key, entry in entries_beside(tree, DoStep).items():
        if key not in known:
            hint = did_you_mean(key, [*known, *keys_of(DoStep, ())])
            message = f"{name} has no argument {quote_value(key)}"
            diagnostics.add(entry.key.span, "unknown-argument", message, hint)
            continue
        value = _argument(known[key], entry.value, diagnostics)
        if value is not None:
            arguments[key] = value
    _check_partition(arguments, tree, definition, cluster, diagnostics)
    return arguments


def operation_step(
    model: DoStep, arguments: Arguments, tree: MappingNode, when: StartCondition, diagnostics: Diagnostics
) -> PlannedOperation:
    """The step with these arguments."""
    definition = OPERATIONS[model.do]
    if model.expect is not None and model.expect not in definition.expects:
        message = f"{model.do} does not end {quote_value(model.expect)}"
        hint = did_you_mean(model.expect, definition.expects)
        diagnostics.add(at(tree, ("expect",)), "unknown-value", message, hint)
    alias = model.alias or model.do
    again = _again(model, definition, arguments, tree, diagnostics)
    patience_s = PATIENCE_S if model.give_up_after is None else model.give_up_after
    return PlannedOperation(
        operation=model.do, alias=alias, arguments=arguments, give_up_after_s=patience_s, when=when,
        expect=cast(ExpectedOutcome, model.expect), background=model.background, again=again, line=tree.span.line,
    )  # fmt: skip


def _again(
    model: DoStep, definition: Operation, arguments: Arguments, tree: MappingNode, diagnostics: Diagnostics
) -> RepeatUntil | None:
    """How the call is repeated, None where it is made once."""
    if model.every is None and model.until is None:
        return None
    if model.every is None or model.until is None:
        lone, hint = ("every", "add until: acknowledged") if model.until is None else ("until", "add every: 1s")
        diagnostics.add(at(tree, (lone,), key=True), "step", "`every` and `until` go together", hint)
    elif not definition.repeatable:
        message = f"{definition.name} is called once"
        diagnostics.add(at(tree, ("every",), key=True), "step", message, "remove `every` and `until`")
    elif model.until not in definition.expects:
        message = f"{model.do} does not end {quote_value(model.until)}"
        hint = did_you_mean(model.until, definition.expects)
        diagnostics.add(at(tree, ("until",)), "unknown-value", message, hint)
    elif "value" in arguments:
        message = "every call sends a value of its own, so that the log can tell them apart"
        diagnostics.add(at(tree, ("value",), key=True), "step", message, "remove `value`")
    else:
        return RepeatUntil(every_s=model.every, until=cast(Until, model.until))
    return None


def _argument(argument: Argument, tree: Tree, diagnostics: Diagnostics) -> str | int | float | None:
    """The value as plans hold it, None where it has a problem."""
    if not isinstance(tree, ScalarNode) or tree.value is None:
        diagnostics.add(tree.span, "type", f"{argument.name} is one value")
        return None
    try:
        if argument.kind == "duration":
            return duration_s(tree.text)
        if argument.kind == "size":
            return size_bytes(tree.text)
    except QuantityError as error:
        diagnostics.add(tree.span, "quantity", error.text, error.hint)
        return None
    if argument.kind == "text":
        return tree.text
    if isinstance(tree.value, bool) or not isinstance(tree.value, int) or tree.value < 0:
        diagnostics.add(tree.span, "type", f"{argument.name} is a whole number from 0", "write digits")
        return None
    return tree.value


def _check_partition(
    arguments: Arguments, tree: MappingNode, definition: Operation, cluster: ClusterShape | None,
    diagnostics: Diagnostics,
) -> None:  # fmt: skip
    """Report a topic or partition that the cluster does not have, named by the step or used by default."""
    if cluster is None or not any(argument.name == "topic" for argument in definition.arguments):
        return
    topics = {topic.name: topic for topic in cluster.topics}
    if definition.names_anything and (topics or "topic" in arguments):
        return
    if not topics:
        message = f"{definition.name} needs a topic and the cluster has none"
        diagnostics.add(at(tree, ("do",)), "unknown-topic", message, "add topics: [{name: orders}] to `cluster`")
        return
    name = str(arguments.get("topic", next(iter(topics))))
    if name not in topics:
        hint = did_you_mean(name, topics)
        diagnostics.add(at(tree, ("topic",)), "unknown-topic", f"the cluster has no topic {quote_value(name)}", hint)
        return
    partition = arguments.get("partition", 0)
    if isinstance(partition, int) and partition >= topics[name].partitions:
        message = f"{name} has no partition {partition}"
        hint = f"partitions are 0 to {topics[name].partitions - 1}"
        diagnostics.add(at(tree, ("partition",)), "unknown-partition", message, hint)
