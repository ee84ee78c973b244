"""A step that injects a fault: its parameters, as the registered fault has them."""

from harness.faults import FAULTS
from harness.faults.brokers import SelectorError
from harness.language.schema import InjectStep
from harness.language.validation import entries_beside, keys_of, parse_model
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.problems import Span
from harness.language.yaml.tree import Entry, MappingNode, ScalarNode, SequenceNode
from harness.levers import HOOKS
from harness.plan import ClusterShape, PlannedFault, StartCondition
from harness.quantities import quote_value
from harness.suggestions import did_you_mean


def fault_step(
    model: InjectStep, tree: MappingNode, when: StartCondition, cluster: ClusterShape | None, diagnostics: Diagnostics
) -> PlannedFault | None:
    """The step, None where its parameters have problems, which are reported."""
    definition = FAULTS[model.inject]
    entries = {**entries_beside(tree, InjectStep), **at_parameter(tree)}
    parameters = keys_of(definition, ())
    for key in [key for key in entries if key not in parameters]:
        hint = did_you_mean(key, [*parameters, *keys_of(InjectStep, ())])
        hint = hint if hint.startswith("did") else f"one of {', '.join(parameters)}"
        message = f"{model.inject} has no parameter {quote_value(key)}"
        diagnostics.add(entries.pop(key).key.span, "unknown-parameter", message, hint)
    own = MappingNode(entries, tree.span)
    fault = parse_model(definition, own, diagnostics)
    if fault is None:
        return None
    if cluster is not None:
        try:
            fault.stages(cluster.view())
        except SelectorError as error:
            diagnostics.add(_span_of(error.item, own), error.code, str(error), error.hint)
    alias = model.alias or model.inject
    return PlannedFault(fault=fault, alias=alias, for_s=model.for_, when=when, line=tree.span.line)


def at_parameter(tree: MappingNode) -> dict[str, Entry]:
    """`at`, where it is a parameter of the step's fault instead of a moment: `{inject: blackhole, at: sender}`."""
    what, where = tree.get("inject"), tree.get("at")
    if not isinstance(what, ScalarNode) or not isinstance(where, ScalarNode) or where.text not in HOOKS:
        return {}
    return {"at": tree.entries["at"]} if "at" in FAULTS[what.text].model_fields else {}


def _span_of(item: int | str, parameters: MappingNode) -> Span:
    """The place of a selector's part: a parameter's value, or an item of its list."""
    for entry in parameters.entries.values():
        for each in entry.value.items if isinstance(entry.value, SequenceNode) else (entry.value,):
            if isinstance(each, ScalarNode) and each.value == item:
                return each.span
    return parameters.span
