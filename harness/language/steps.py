"""Steps of a scenario: operations, faults and healings, checked in their order."""

from dataclasses import dataclass

from harness.faults import FAULTS
from harness.formulas.chance import CHANCE_FUNCTIONS
from harness.formulas.kernel_timers import KERNEL_FUNCTIONS
from harness.language.calls_after_close import report_calls_after_close
from harness.language.conflicts import report_conflicts
from harness.language.endless_waits import report_endless_waits
from harness.language.fault_steps import fault_step, own_parameters, step_fault
from harness.language.matrix import alias_of
from harness.language.operation_steps import Arguments, operation_step, step_arguments
from harness.language.schema import STEPS, DoStep, HealStep, InjectStep, Spread, Timed
from harness.language.validation import parse_model
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import MappingNode, ScalarNode, SequenceNode, Tree, at
from harness.levers import HOOKS
from harness.measures import WHOLE_RUN
from harness.operations import OPERATIONS
from harness.plan import (
    ClusterShape,
    PlannedFault,
    PlannedHealing,
    PlannedOperation,
    StartCondition,
    Step,
    step_alias,
)
from harness.quantities import QuantityError, duration_s, duration_text, quote_value
from harness.suggestions import did_you_mean

RESERVED = ("cluster", "client", "settings", "setting", "min", "max", "ceil", "floor", "true", "false", *HOOKS,
            WHOLE_RUN, *KERNEL_FUNCTIONS, *CHANCE_FUNCTIONS)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ParsedSteps:
    """`aliases` also holds names of steps with problems, so that expectations of them are not reported as well.

    `default_patience` names operations without a `give_up_after`. `sound` is False where a step was left out.
    """

    steps: tuple[Step, ...]
    aliases: dict[str, str]
    default_patience: frozenset[str]
    sound: bool


def steps(tree: Tree | None, cluster: ClusterShape | None, diagnostics: Diagnostics) -> ParsedSteps:
    """Every step without problems. The problems of others are reported."""
    reader = _Reader(cluster, diagnostics)
    items = tree.items if isinstance(tree, SequenceNode) else ()
    for item in items:
        reader.read(item)
    sound = len(reader.found) == len(items) > 0
    if sound and cluster is not None:
        report_conflicts(reader.found, items, cluster, diagnostics)
        report_endless_waits(reader.found, items, diagnostics)
        report_calls_after_close(reader.found, items, diagnostics)
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
        # Before the step's own keys: what is wrong with those hides nothing else.
        fault, own = None, {}
        arguments: Arguments = {}
        if kind == "do" and isinstance(what, ScalarNode):
            arguments = step_arguments(what.text, tree, self.cluster, self.diagnostics)
        if kind == "inject" and isinstance(what, ScalarNode):
            fault, own = step_fault(what.text, tree, self.cluster, self.diagnostics), own_parameters(tree)
        step = MappingNode({key: entry for key, entry in tree.entries.items() if key not in own}, tree.span)
        model = parse_model(STEPS[kind], step, self.diagnostics)
        if model is None:
            return None
        when = self._when(model, tree)
        if isinstance(model, DoStep):
            if model.give_up_after is None:
                self.default_patience.add(model.alias or model.do)
            return operation_step(model, arguments, tree, when, self.diagnostics)
        if isinstance(model, InjectStep):
            return fault_step(model, fault, tree, when, self.cluster, self.diagnostics)
        return self._heal(model, tree, when)

    def _when(self, model: Timed, tree: MappingNode) -> StartCondition:
        if model.at is None:
            return self._after(model, tree)
        where = at(tree, ("at",))
        if model.after is not None:
            self.diagnostics.add(
                at(tree, ("after",), key=True), "step", "a step has `at` or `after`, not both", "remove one"
            )
        alias, _, rest = (part.strip() for part in model.at.partition("+"))
        try:
            after_s = duration_s(rest) if "+" in model.at else 0.0
        except QuantityError as error:
            self.diagnostics.add(where, "quantity", error.text, error.hint or "write at: outage+4s")
            after_s = 0.0
        if alias not in self.aliases:
            self.diagnostics.add(where, *self._no_moment(alias, after_s, tree))
        return StartCondition(alias=alias, after_s=after_s)

    def _no_moment(self, alias: str, after_s: float, tree: MappingNode) -> tuple[str, str, str]:
        """Why no step can start `after_s` after this: a code, a message and a hint."""
        name, _, number = alias.partition("#")
        step = self._found(name)
        if number and isinstance(step, PlannedOperation) and step.again is not None:
            return "occurrence", f"`at` waits for the last call of {quote_value(name)} alone", f"write at: {name}"
        if number and isinstance(step, PlannedFault) and step.recurs is not None and int(number) <= step.recurs.times:
            later_s = after_s + (int(number) - 1) * step.recurs.every_s
            hint = f"write at: {name}+{duration_text(later_s)}"
            return "occurrence", f"`at` waits for the first occurrence of {quote_value(name)} alone", hint
        earlier = [name for name in self.aliases if name != alias_of(tree)]
        message = f"`at` waits for {quote_value(alias)}, which no earlier step is called"
        return "unknown-alias", message, did_you_mean(alias, earlier)

    def _found(self, alias: str) -> PlannedOperation | PlannedFault | None:
        steps = (step for step in self.found if not isinstance(step, PlannedHealing))
        return next((step for step in steps if step.alias == alias), None)

    def _after(self, model: Timed, tree: MappingNode) -> StartCondition:
        if not isinstance(model.after, Spread):
            return StartCondition(after_s=model.after or 0.0)
        low_s, high_s = model.after.uniform
        if high_s <= low_s:
            where = at(tree, ("after", "uniform"))
            self.diagnostics.add(where, "step", "the second time has to be the longer one", "write uniform: [0s, 1s]")
        return StartCondition(after_s=low_s, spread_s=max(0.0, high_s - low_s))

    def _heal(self, model: HealStep, tree: MappingNode, when: StartCondition) -> PlannedHealing:
        where = at(tree, ("heal",))
        faults = [alias for alias, kind in self.aliases.items() if kind == "inject"]
        named, recurring = model.heal, self._found(step_alias(model.heal))
        if named not in self.aliases and isinstance(recurring, PlannedFault) and recurring.recurs is not None:
            named = recurring.alias
            message = f"{quote_value(named)} is healed as a whole, with all its occurrences"
            self.diagnostics.add(where, "occurrence", message, f"write heal: {named}")
        elif named not in self.aliases:
            message = f"no earlier fault is called {quote_value(named)}"
            self.diagnostics.add(where, "unknown-alias", message, did_you_mean(named, faults))
        elif named not in faults:
            message = f"{quote_value(named)} is an operation, not a fault"
            self.diagnostics.add(where, "unknown-alias", message, did_you_mean(named, faults))
        elif named in self.healed:
            self.diagnostics.add(where, "healed-twice", f"{quote_value(named)} is healed already", "remove this step")
        self.healed.add(named)
        return PlannedHealing(alias=named, when=when, line=tree.span.line)
