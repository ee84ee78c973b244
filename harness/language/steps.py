"""Steps of a scenario: operations, faults and healings, each checked against what is registered under its name."""

from dataclasses import dataclass
from typing import Literal, cast

from pydantic import BaseModel

from harness.faults import FAULTS
from harness.faults.brokers import SelectorError
from harness.formulas.kernel_timers import KERNEL_FUNCTIONS
from harness.language.matrix import alias_of
from harness.language.schema import STEPS, DoStep, HealStep, InjectStep, Timed
from harness.language.validation import keys_of, parse_model
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.problems import Span
from harness.language.yaml.tree import Entry, MappingNode, ScalarNode, SequenceNode, Tree, at
from harness.levers import HOOKS
from harness.measures import WHOLE_RUN
from harness.operations import OPERATIONS, Argument, Operation
from harness.plan import ClusterShape, PlannedFault, PlannedHealing, PlannedOperation, RepeatUntil, StartCondition, Step
from harness.quantities import QuantityError, duration_s, quote_value, size_bytes
from harness.suggestions import did_you_mean

Until = Literal["acknowledged", "ok", "failed"]
ExpectedOutcome = Until | None
RESERVED = ("cluster", "client", "settings", "setting", "min", "max", "ceil", "floor", "true", "false", *HOOKS,
            WHOLE_RUN, *KERNEL_FUNCTIONS)  # fmt: skip
PATIENCE_S = 60.0
"""How long the lab waits for an operation that says nothing else and of which no formula predicts more."""


@dataclass(frozen=True, slots=True)
class ParsedSteps:
    """`aliases` holds what is called something even where it is wrong otherwise: one mistake, one problem.

    `default_patience` names operations without a `give_up_after` of their own. `sound` is False where a step was left
    out.
    """

    steps: tuple[Step, ...]
    aliases: dict[str, str]
    default_patience: frozenset[str]
    sound: bool


def steps(tree: Tree | None, cluster: ClusterShape | None, diagnostics: Diagnostics) -> ParsedSteps:
    """Every step that is right; the others are noted."""
    reader = _Reader(cluster, diagnostics)
    items = tree.items if isinstance(tree, SequenceNode) else ()
    for item in items:
        reader.read(item)
    sound = len(reader.found) == len(items) > 0
    return ParsedSteps(tuple(reader.found), reader.aliases, frozenset(reader.default_patience), sound)


class _Reader:
    def __init__(self, cluster: ClusterShape | None, diagnostics: Diagnostics) -> None:
        self.cluster = cluster
        self.diagnostics = diagnostics
        self.found: list[Step] = []
        self.aliases: dict[str, str] = {}
        self.default_patience: set[str] = set()
        self.healed: set[str] = set()

    def read(self, tree: Tree) -> None:
        kinds = [kind for kind in STEPS if isinstance(tree, MappingNode) and kind in tree.entries]
        if not isinstance(tree, MappingNode) or len(kinds) != 1:
            given = list(tree.entries) if isinstance(tree, MappingNode) else []
            near = [hint for key in given if (hint := did_you_mean(key, STEPS)).startswith("did")]
            message = f"a step has one of {', '.join(STEPS)}" + (f", not {' and '.join(kinds)}" if kinds else "")
            hint = near[0] if near and not kinds else "write {do: send, as: probe}"
            self.diagnostics.add(tree.span, "step", message, hint)
            return
        alias = alias_of(tree) if kinds[0] != "heal" else None
        before = len(self.diagnostics.problems)
        step = self._step(kinds[0], tree)
        if alias is not None:
            self._name(alias, tree, kinds[0])
        if step is not None and len(self.diagnostics.problems) == before:
            self.found.append(step)

    def _name(self, alias: str, tree: MappingNode, kind: str) -> None:
        named = tree.get("as") or tree.get(kind)
        assert named is not None
        if alias in self.aliases:
            hint = "add `as:` with another name" if tree.get("as") is None else "choose another name"
            self.diagnostics.add(named.span, "duplicate-alias", f"two steps are called {quote_value(alias)}", hint)
        elif alias in RESERVED:
            self.diagnostics.add(
                named.span, "reserved-alias", f"{quote_value(alias)} means something else", "rename it"
            )
        what = tree.get(kind)
        self.aliases[alias] = kind if kind == "inject" or not isinstance(what, ScalarNode) else f"do {what.text}"

    def _step(self, kind: str, tree: MappingNode) -> Step | None:
        what = tree.get(kind)
        if kind == "do" and isinstance(what, ScalarNode) and what.text not in OPERATIONS:
            hint = did_you_mean(what.text, OPERATIONS)
            self.diagnostics.add(
                what.span, "unknown-operation", f"there is no operation {quote_value(what.text)}", hint
            )
            return None
        if kind == "inject" and isinstance(what, ScalarNode) and what.text not in FAULTS:
            hint = did_you_mean(what.text, FAULTS)
            self.diagnostics.add(what.span, "unknown-fault", f"there is no fault {quote_value(what.text)}", hint)
            return None
        own = _at_parameter(tree) if kind == "inject" else {}
        step = MappingNode({key: entry for key, entry in tree.entries.items() if key not in own}, tree.span)
        model = parse_model(STEPS[kind], step, self.diagnostics)
        if model is None:
            return None
        when = self._when(model, tree)
        if isinstance(model, DoStep):
            return self._do(model, tree, when)
        if isinstance(model, InjectStep):
            return self._inject(model, tree, when)
        return self._heal(model, tree, when)

    def _when(self, model: Timed, tree: MappingNode) -> StartCondition:
        if model.at is None:
            return StartCondition(after_s=model.after or 0.0)
        where = at(tree, ("at",))
        if model.after is not None:
            self.diagnostics.add(
                at(tree, ("after",), key=True), "step", "a step has `at` or `after`, not both", "remove one"
            )
        alias, _, rest = (part.strip() for part in model.at.partition("+"))
        if alias not in self.aliases:
            earlier = [name for name in self.aliases if name != alias_of(tree)]
            message = f"`at` waits for {quote_value(alias)}, which no earlier step is called"
            self.diagnostics.add(where, "unknown-alias", message, did_you_mean(alias, earlier))
        try:
            after_s = duration_s(rest) if "+" in model.at else 0.0
        except QuantityError as error:
            self.diagnostics.add(where, "quantity", error.text, error.hint or "write at: outage+4s")
            after_s = 0.0
        return StartCondition(alias=alias, after_s=after_s)

    def _do(self, model: DoStep, tree: MappingNode, when: StartCondition) -> PlannedOperation:
        definition = OPERATIONS[model.do]
        if model.expect is not None and model.expect not in definition.expects:
            message = f"{model.do} does not end {quote_value(model.expect)}"
            hint = did_you_mean(model.expect, definition.expects)
            self.diagnostics.add(at(tree, ("expect",)), "unknown-value", message, hint)
        known = {argument.name: argument for argument in definition.arguments}
        arguments: dict[str, str | int | float] = {}
        for key, entry in _own(tree, DoStep).items():
            if key not in known:
                hint = did_you_mean(key, [*known, *keys_of(DoStep, ())])
                message = f"{model.do} has no argument {quote_value(key)}"
                self.diagnostics.add(entry.key.span, "unknown-argument", message, hint)
                continue
            value = self._argument(known[key], entry.value)
            if value is not None:
                arguments[key] = value
        self._check_place(arguments, tree, model.do)
        alias = model.alias or model.do
        again = self._again(model, definition, arguments, tree)
        if model.give_up_after is None:
            self.default_patience.add(alias)
        patience_s = PATIENCE_S if model.give_up_after is None else model.give_up_after
        return PlannedOperation(
            operation=model.do, alias=alias, arguments=arguments, give_up_after_s=patience_s, when=when,
            expect=cast(ExpectedOutcome, model.expect), background=model.background, again=again, line=tree.span.line,
        )  # fmt: skip

    def _again(
        self, model: DoStep, definition: Operation, arguments: dict[str, str | int | float], tree: MappingNode
    ) -> RepeatUntil | None:
        if model.every is None and model.until is None:
            return None
        if model.every is None or model.until is None:
            lone, hint = ("every", "add until: acknowledged") if model.until is None else ("until", "add every: 1s")
            self.diagnostics.add(at(tree, (lone,), key=True), "step", "`every` and `until` go together", hint)
        elif not definition.repeatable:
            message = f"{definition.name} is called once"
            self.diagnostics.add(at(tree, ("every",), key=True), "step", message, "remove `every` and `until`")
        elif model.until not in definition.expects:
            message = f"{model.do} does not end {quote_value(model.until)}"
            hint = did_you_mean(model.until, definition.expects)
            self.diagnostics.add(at(tree, ("until",)), "unknown-value", message, hint)
        elif "value" in arguments:
            message = "every call sends a value of its own, so that the log can tell them apart"
            self.diagnostics.add(at(tree, ("value",), key=True), "step", message, "remove `value`")
        else:
            return RepeatUntil(every_s=model.every, until=cast(Until, model.until))
        return None

    def _argument(self, argument: Argument, tree: Tree) -> str | int | float | None:
        if not isinstance(tree, ScalarNode) or tree.value is None:
            self.diagnostics.add(tree.span, "type", f"{argument.name} is one value")
            return None
        try:
            if argument.kind == "duration":
                return duration_s(tree.text)
            if argument.kind == "size":
                return size_bytes(tree.text)
        except QuantityError as error:
            self.diagnostics.add(tree.span, "quantity", error.text, error.hint)
            return None
        if argument.kind == "text":
            return tree.text
        if isinstance(tree.value, bool) or not isinstance(tree.value, int) or tree.value < 0:
            self.diagnostics.add(tree.span, "type", f"{argument.name} is a whole number from 0", "write digits")
            return None
        return tree.value

    def _check_place(self, arguments: dict[str, str | int | float], tree: MappingNode, operation: str) -> None:
        """A topic and partition that a step names, or takes for granted, have to exist."""
        if self.cluster is None or not any(a.name == "topic" for a in OPERATIONS[operation].arguments):
            return
        topics = {topic.name: topic for topic in self.cluster.topics}
        if not topics:
            message = f"{operation} needs a topic and the cluster has none"
            self.diagnostics.add(
                at(tree, ("do",)), "unknown-topic", message, "add topics: [{name: orders}] to `cluster`"
            )
            return
        name = str(arguments.get("topic", next(iter(topics))))
        if name not in topics:
            hint = did_you_mean(name, topics)
            self.diagnostics.add(
                at(tree, ("topic",)), "unknown-topic", f"the cluster has no topic {quote_value(name)}", hint
            )
            return
        partition = arguments.get("partition", 0)
        if isinstance(partition, int) and partition >= topics[name].partitions:
            message = f"{name} has no partition {partition}"
            hint = f"partitions are 0 to {topics[name].partitions - 1}"
            self.diagnostics.add(at(tree, ("partition",)), "unknown-partition", message, hint)

    def _inject(self, model: InjectStep, tree: MappingNode, when: StartCondition) -> PlannedFault | None:
        definition = FAULTS[model.inject]
        entries = {**_own(tree, InjectStep), **_at_parameter(tree)}
        parameters = keys_of(definition, ())
        for key in [key for key in entries if key not in parameters]:
            hint = did_you_mean(key, [*parameters, *keys_of(InjectStep, ())])
            hint = hint if hint.startswith("did") else f"one of {', '.join(parameters)}"
            message = f"{model.inject} has no parameter {quote_value(key)}"
            self.diagnostics.add(entries.pop(key).key.span, "unknown-parameter", message, hint)
        own = MappingNode(entries, tree.span)
        fault = parse_model(definition, own, self.diagnostics)
        if fault is None:
            return None
        if self.cluster is not None:
            try:
                fault.stages(self.cluster.view())
            except SelectorError as error:
                self.diagnostics.add(_span_of(error.item, own), error.code, str(error), error.hint)
        alias = model.alias or model.inject
        return PlannedFault(fault=fault, alias=alias, for_s=model.for_, when=when, line=tree.span.line)

    def _heal(self, model: HealStep, tree: MappingNode, when: StartCondition) -> PlannedHealing:
        where = at(tree, ("heal",))
        faults = [alias for alias, kind in self.aliases.items() if kind == "inject"]
        if model.heal not in self.aliases:
            message = f"no earlier fault is called {quote_value(model.heal)}"
            self.diagnostics.add(where, "unknown-alias", message, did_you_mean(model.heal, faults))
        elif model.heal not in faults:
            message = f"{quote_value(model.heal)} is an operation, not a fault"
            self.diagnostics.add(where, "unknown-alias", message, did_you_mean(model.heal, faults))
        elif model.heal in self.healed:
            self.diagnostics.add(
                where, "healed-twice", f"{quote_value(model.heal)} is healed already", "remove this step"
            )
        self.healed.add(model.heal)
        return PlannedHealing(alias=model.heal, when=when, line=tree.span.line)


def _own(tree: MappingNode, model: type[BaseModel]) -> dict[str, Entry]:
    """Entries that are not the step's own keys: arguments of the operation, parameters of the fault."""
    mine = keys_of(model, ())
    return {key: entry for key, entry in tree.entries.items() if key not in mine}


def _at_parameter(tree: MappingNode) -> dict[str, Entry]:
    """`at`, where it is no moment but a parameter of the step's fault: `{inject: blackhole, at: sender}`."""
    what, where = tree.get("inject"), tree.get("at")
    if not isinstance(what, ScalarNode) or not isinstance(where, ScalarNode) or where.text not in HOOKS:
        return {}
    return {"at": tree.entries["at"]} if "at" in FAULTS[what.text].model_fields else {}


def _span_of(item: int | str, parameters: MappingNode) -> Span:
    """Where a part of a selector stands: a parameter's value, or an item of its list."""
    for entry in parameters.entries.values():
        for each in entry.value.items if isinstance(entry.value, SequenceNode) else (entry.value,):
            if isinstance(each, ScalarNode) and each.value == item:
                return each.span
    return parameters.span
