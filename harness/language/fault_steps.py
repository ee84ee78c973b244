"""A step that injects a fault: its parameters, as the registered fault has them."""

from collections.abc import Iterable, Sequence

from harness.brokers.kind import cluster_kind
from harness.faults import FAULTS
from harness.faults.base import FaultModel, Stage
from harness.faults.brokers import SelectorError, which_brokers
from harness.language.schema import InjectStep
from harness.language.validation import entries_beside, keys_of, parse_model
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.problems import Span
from harness.language.yaml.tree import Entry, MappingNode, ScalarNode, SequenceNode, Tree, at
from harness.levers import HOOKS, FlawedCertificate, Intercept, Lever
from harness.plan import ClusterShape, PlannedFault, Recurrence, StartCondition, Trigger
from harness.quantities import quote_value
from harness.suggestions import did_you_mean

_LACKING = {
    "tls": ("the cluster's brokers speak plain text", "`tls: true`"),
    "names": ("the cluster's brokers are reached by addresses", "`names: true`"),
    "sasl": ("the cluster's brokers ask for no authentication", "`sasl: [PLAIN]`"),
}
"""By what a fault needs: what is so without it, and what to write."""


def step_fault(
    name: str, tree: MappingNode, cluster: ClusterShape | None, diagnostics: Diagnostics
) -> FaultModel | None:
    """The fault that a step injects, by its own parameters alone; None where they have problems, which are reported."""
    definition = FAULTS[name]
    entries = _parameter_entries(tree)
    parameters = keys_of(definition, ())
    for key in [key for key in entries if key not in parameters]:
        hint = did_you_mean(key, [*parameters, *keys_of(InjectStep, ())])
        hint = hint if hint.startswith("did") else f"one of {', '.join(parameters)}"
        message = f"{name} has no parameter {quote_value(key)}"
        diagnostics.add(entries.pop(key).key.span, "unknown-parameter", message, hint)
    own = MappingNode(entries, tree.span)
    fault = parse_model(definition, own, diagnostics)
    if fault is None or cluster is None:
        return fault
    stages: Sequence[Stage] = ()
    try:
        stages = fault.stages(cluster.view())
    except SelectorError as error:
        diagnostics.add(place_of(error.item, tree), error.code, str(error), error.hint)
    refused = (refusal for stage in stages for refusal in cluster_kind(cluster.kind).refuses(stage.lever))
    for refusal in dict.fromkeys(refused):
        diagnostics.add(place_of(refusal.name, tree), refusal.code, refusal.reason, refusal.hint)
    if cluster.certificates is not None and any(_forges(stage.lever) for stage in stages):
        message = f"the lab cannot sign a flawed certificate in the name of {cluster.certificates.ca}"
        diagnostics.add(at(tree, ("inject",)), "fault", message, "write how: foreign, or `tls: true` in `cluster`")
    if definition.needs is not None and not getattr(cluster, definition.needs):
        so, wanted = _LACKING[definition.needs]
        where = at(tree, ("inject",))
        diagnostics.add(where, "fault", f"{name} meets nothing: {so}", f"add {wanted} to `cluster`")
    return fault


def fault_step(
    model: InjectStep, fault: FaultModel | None, tree: MappingNode, when: StartCondition, cluster: ClusterShape | None,
    diagnostics: Diagnostics,
) -> PlannedFault | None:  # fmt: skip
    """The step with this fault. What is wrong with the step itself is reported for one whose fault is wrong, too."""
    recurs = _recurrence(model, tree, diagnostics)
    trigger = _trigger(model, tree, cluster, diagnostics)
    if fault is None:
        return None
    alias = model.alias or model.inject
    return PlannedFault(
        fault=fault, alias=alias, for_s=model.for_, recurs=recurs, trigger=trigger, when=when, line=tree.span.line
    )


def _forges(lever: Lever) -> bool:
    """Whether it needs a certificate that the clients' authority has signed."""
    answer = lever.answer if isinstance(lever, Intercept) else None
    return isinstance(answer, FlawedCertificate) and answer.flaw != "foreign"


def own_parameters(tree: MappingNode) -> dict[str, Entry]:
    """Parameters of the step's fault that are named as keys of every step are: `at` where it is no moment, as in
    `{inject: blackhole, at: sender}`, and `times` without `every`, as in `{inject: reset, times: 1}`."""
    what, where = tree.get("inject"), tree.get("at")
    if not isinstance(what, ScalarNode):
        return {}
    names = ["at"] if isinstance(where, ScalarNode) and where.text in HOOKS else []
    names += ["times"] if "every" not in tree.entries and "times" in tree.entries else []
    return {name: tree.entries[name] for name in names if name in FAULTS[what.text].model_fields}


def _recurrence(model: InjectStep, tree: MappingNode, diagnostics: Diagnostics) -> Recurrence | None:
    if model.every is None or model.times is None:
        if model.every is not None or model.times is not None:
            given, missing = ("every", "times: 6") if model.times is None else ("times", "every: 10s")
            message = f"`{given}` alone does not say how the fault recurs"
            diagnostics.add(at(tree, (given,), key=True), "step", message, f"add {missing}")
        return None
    if model.for_ is not None and model.for_ >= model.every:
        message = "it would recur before it is healed"
        diagnostics.add(at(tree, ("every",)), "step", message, "make `every` longer than `for`")
    return Recurrence(every_s=model.every, times=model.times)


def _trigger(
    model: InjectStep, tree: MappingNode, cluster: ClusterShape | None, diagnostics: Diagnostics
) -> Trigger | None:
    given = model.trigger
    if given is None:
        return None
    if model.every is not None:
        message = "a fault recurs by time or comes with a request, not both"
        diagnostics.add(at(tree, ("trigger",), key=True), "step", message, "remove one of trigger and every")
    if cluster is not None and given.broker not in cluster.broker_ids:
        where = at(tree, ("trigger", "broker"))
        diagnostics.add(where, "no-such-broker", f"there is no broker {given.broker}", which_brokers(cluster.view()))
    trigger = Trigger(request=given.request, broker=given.broker, nth=given.nth)
    for refusal in () if cluster is None else cluster_kind(cluster.kind).refuses(trigger.intercept):
        diagnostics.add(at(tree, ("trigger", "request")), refusal.code, refusal.reason, refusal.hint)
    return trigger


def place_of(item: int | str, tree: MappingNode) -> Span:
    """Where a step that injects a fault names something: a parameter's value, or an item or a key of its value."""
    entries = _parameter_entries(tree)
    for entry in entries.values():
        for each in _named(entry.value):
            if isinstance(each, ScalarNode) and each.value == item:
                return each.span
    return at(tree, ("brokers",)) if "brokers" in entries else tree.span


def _named(value: Tree) -> Iterable[Tree]:
    if isinstance(value, MappingNode):
        return (entry.key for entry in value.entries.values())
    return value.items if isinstance(value, SequenceNode) else (value,)


def _parameter_entries(tree: MappingNode) -> dict[str, Entry]:
    return {**entries_beside(tree, InjectStep), **own_parameters(tree)}
