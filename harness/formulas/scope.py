"""What the names in a formula mean: settings by full name or unique dotted end, cluster, client, faults."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from client.profiles.contract import Profile
from client.settings import Settings, SettingValue
from harness.faults import FaultModel
from harness.formulas.chance import CHANCE_FUNCTIONS
from harness.formulas.kernel_timers import KERNEL_FUNCTIONS, Timer
from harness.formulas.syntax import LASTS, FormulaError, lasts_hint
from harness.formulas.values import UNIT_NAMES, FormulaValue, UnitError, duration, number
from harness.memo import memoize_last
from harness.operations import OPERATIONS
from harness.plan import ClientPlan, ClusterShape, PlannedFault, PlannedOperation, ResolvedValue, RunPlan, Step, Unit
from harness.quantities import QuantityUnit, quote_value
from harness.suggestions import did_you_mean

AND = " and "
"""Between the words of a list."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that formulas may call. Names of parameters and functions that end in `_s` are in seconds.

    `takes` are its own parameters; one called `settings` beside them is filled in with the client's settings.
    """

    call: Callable[..., float | Timer]
    takes: tuple[str, ...]
    gives_s: bool
    wants_settings: bool

    @classmethod
    def of(cls, call: Callable[..., float | Timer]) -> "Function":
        names = tuple(inspect.signature(call).parameters)
        own = tuple(name for name in names if name != "settings")
        return cls(call, own, getattr(call, "__name__", "").endswith("_s"), wants_settings=own != names)


@dataclass(frozen=True, slots=True)
class Scope:
    """`settings` come first: a setting called like anything else wins.

    `known` is what was worked out in this scope: of formulas by their text, of expectations by themselves. Repeats of
    a case ask for the same again and again.
    """

    settings: Mapping[str, FormulaValue]
    other_names: Mapping[str, FormulaValue] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    values: Mapping[str, SettingValue] = field(default_factory=dict)
    known: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)

    def find(self, name: str) -> FormulaValue:
        """Raises FormulaError, without a place, for an unknown or ambiguous name."""
        if name not in self.settings and name in self.other_names:
            return self.other_names[name]
        return self.find_setting(name)

    def find_setting(self, name: str) -> FormulaValue:
        """A setting by its full name or a unique dotted end of it. Raises FormulaError, without a place."""
        if name in self.settings:
            return self.settings[name]
        ends = [full for full in self.settings if full.endswith(f".{name}")]
        if len(ends) == 1:
            return self.settings[ends[0]]
        if ends:
            message = f"{quote_value(name)} could be {' or '.join(ends)}"
            raise FormulaError("ambiguous-name", message, f"write {ends[0]}")
        alias, _, last = name.partition(".")
        if last == LASTS and any(known.startswith(f"{alias}.") for known in self.other_names):
            raise FormulaError("unknown-name", f"nothing is called {name}", f"add `for:` to {alias}")
        hint = did_you_mean(name, [*self.settings, *self.other_names])
        if not hint.startswith("did"):
            short = {full.rsplit(".", 1)[-1] for full in self.settings}
            hint = did_you_mean(name.rsplit(".", 1)[-1], sorted(short))
        raise FormulaError("unknown-name", f"nothing is called {name}", hint if hint.startswith("did") else "")

    def setting(self, name: str) -> FormulaValue:
        """Raises FormulaError, without a place, where no setting has this full name."""
        if name in self.settings:
            return self.settings[name]
        message = f"the client has no setting {quote_value(name)}"
        raise FormulaError("unknown-setting", message, lasts_hint(name) or did_you_mean(name, self.settings))

    def call(self, name: str, arguments: tuple[FormulaValue, ...], text: str) -> FormulaValue:
        """The function's value; `text` is the call as written. Raises FormulaError, without a place."""
        function = self.functions[name]
        if len(arguments) != len(function.takes):
            raise FormulaError("formula", f"{name} takes {len(function.takes)} arguments, not {len(arguments)}")
        given: dict[str, object] = {"settings": Settings(self.values)} if function.wants_settings else {}
        for parameter, argument in zip(function.takes, arguments, strict=True):
            unit: Unit = "s" if parameter.endswith("_s") else "count"
            if argument.unit != unit:
                raise FormulaError("unit", f"{name} takes {UNIT_NAMES[unit]} as its {parameter.removesuffix('_s')}")
            given[parameter] = argument.number
        try:
            result = function.call(**given)
            if isinstance(result, Timer):
                return duration(text, result.at_s, late_s=result.late_s)
            return duration(text, number(result).number) if function.gives_s else number(result)
        except (ArithmeticError, ValueError, KeyError, UnitError) as error:
            raise FormulaError("formula", f"{name} has no value here: {error}") from error


def setting_value(named: ResolvedValue) -> FormulaValue:
    """A setting or parameter as a formula sees it."""
    if named.unit == "s":
        return duration(named.name, named.value or 0.0, named.name)
    if named.unit == "count":
        return FormulaValue("count", named.value or 0.0)
    return FormulaValue("bool", bool(named.value)) if named.unit == "bool" else FormulaValue("text", named.text)


def fault_values(alias: str, fault: FaultModel) -> dict[str, FormulaValue]:
    """`outage.delay` and the like: the fault's durations, numbers and words, and lists of words (`to_broker and
    to_client`)."""
    found: dict[str, FormulaValue] = {}
    for name, info in type(fault).model_fields.items():
        value, full = getattr(fault, name), f"{alias}.{name}"
        if any(isinstance(mark, QuantityUnit) and mark.unit == "s" for mark in info.metadata):
            found[full] = duration(full, float(value))
        elif isinstance(value, bool):
            found[full] = FormulaValue("bool", value)
        elif isinstance(value, int | float):
            found[full] = FormulaValue("count", float(value))
        elif isinstance(value, str):
            found[full] = FormulaValue("text", value)
        elif isinstance(value, tuple) and all(isinstance(item, str) for item in value):
            found[full] = FormulaValue("text", AND.join(value))
    return found


def argument_values(do: PlannedOperation) -> dict[str, FormulaValue]:
    """`probe.deadline` and the like."""
    definition = OPERATIONS.get(do.operation)
    kinds = {argument.name: argument.kind for argument in definition.arguments} if definition else {}
    found: dict[str, FormulaValue] = {}
    for name, value in do.arguments.items():
        full = f"{do.alias}.{name}"
        if kinds.get(name) == "duration":
            found[full] = duration(full, float(value))
        elif isinstance(value, int | float):
            found[full] = FormulaValue("count", float(value))
        else:
            found[full] = FormulaValue("text", value)
    return found


def raw_value(named: ResolvedValue) -> SettingValue:
    """The value as a profile's settings hold it: seconds, an integer where it is one, a boolean, a text."""
    if named.unit == "text":
        return named.text
    if named.unit == "bool":
        return bool(named.value)
    value = named.value or 0.0
    return int(value) if named.unit == "count" and value.is_integer() else value


@cache
def _function(call: Callable[..., float | Timer]) -> Function:
    """Each is asked for again for every plan, and Python takes its time over a signature."""
    return Function.of(call)


def _functions(profile: Profile | None) -> dict[str, Function]:
    own = profile.functions if profile else {}
    known: dict[str, Callable[..., float | Timer]] = {**KERNEL_FUNCTIONS, **CHANCE_FUNCTIONS, **own}
    return {name: _function(call) for name, call in known.items()}


def scope_of(plan: RunPlan, profile: Profile | None) -> Scope:
    """All that a formula of this plan may name. Repeats of one cell share it."""
    return _scope(plan.client, plan.cluster, plan.steps, plan.settings, profile)


@memoize_last
def _scope(
    client: ClientPlan,
    cluster: ClusterShape,
    steps: tuple[Step, ...],
    settings: tuple[ResolvedValue, ...],
    profile: Profile | None,
) -> Scope:
    other_names = {
        "cluster.brokers": FormulaValue("count", float(cluster.brokers)),
        "client.bootstrap.count": FormulaValue("count", float(len(client.bootstrap))),
        "client.bootstrap.dark": FormulaValue("count", float(len(client.blackholed))),
        "client.bootstrap.refused": FormulaValue("count", float(len(client.refused))),
        "client.version": FormulaValue("text", client.version),
        "client.name": FormulaValue("text", client.name),
    }
    for step in steps:
        if isinstance(step, PlannedFault):
            other_names |= fault_values(step.alias, step.fault)
            if step.for_s is not None:
                other_names[f"{step.alias}.{LASTS}"] = duration(f"{step.alias}.{LASTS}", step.for_s)
        elif isinstance(step, PlannedOperation):
            other_names |= argument_values(step)
    return Scope(
        settings={named.name: setting_value(named) for named in settings},
        other_names=other_names,
        functions=_functions(profile),
        values={named.name: raw_value(named) for named in settings},
    )
