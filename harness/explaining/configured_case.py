"""A case with a user's version, settings and numbers of brokers, as a plan."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from client.errors import SettingError
from client.profiles import Profile, profile
from client.settings import SettingValue
from harness.explaining.cases import CitedFormula, ExplainableCase
from harness.formulas.evaluate import Evaluated, Formula, condition_holds, evaluate
from harness.formulas.profiles import profile_of
from harness.language.formula_library import FormulaLibrary
from harness.language.identity import identity
from harness.language.matrix import alias_of, cells
from harness.language.resolve import resolve
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.problems import Problem, Span
from harness.language.yaml.scalars import core_value
from harness.language.yaml.tree import Entry, MappingNode, ScalarNode, SequenceNode, Tree
from harness.plan import Expectation, PlannedOperation, ResolvedValue, RunPlan
from harness.quantities import duration_text

SEED = 7
PATIENCE = 4.0
"""An operation counts as hung after so many times what the formula predicts, and after an hour at least: simulated time
costs nothing, and another release, which no formula covers, may take several times as long."""
LEAST_PATIENCE_S = 3600.0
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*")
QUOTED = re.compile(r"setting\(\s*(['\"])(.*?)\1\s*\)|(['\"]).*?\3")
NOWHERE = Span(1, 1)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One problem of a question, and one suggestion, or an empty text."""

    message: str
    hint: str = ""


class InvalidQuestion(Exception):
    """The question has mistakes."""

    def __init__(self, *mistakes: Mistake) -> None:
        super().__init__("; ".join(mistake.message for mistake in mistakes))
        self.mistakes = mistakes


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`given` holds texts by name: settings (full names, or ends of one that are unique), and parameters of the fault
    as formulas call them (`slow.delay`). What is not given is as the client has it by default; there are as many
    brokers as the case has, and at least as many as bootstrap addresses."""

    version: str
    given: Mapping[str, str]
    brokers: int | None = None
    bootstrap: int | None = None


@dataclass(frozen=True, slots=True)
class ConfiguredCase:
    """`plan` has every expectation of the case's scenario."""

    case: ExplainableCase
    plan: RunPlan
    profile: Profile

    @property
    def settings(self) -> dict[str, ResolvedValue]:
        return {named.name: named for named in self.plan.settings}

    def expectation(self, cited: CitedFormula) -> Expectation:
        return self.plan.expectations[cited.index]

    def with_settings(self, changes: Mapping[str, float]) -> "ConfiguredCase | None":
        """The same with other values (seconds, or counts); None where the client refuses one, or all together."""
        found = self.with_values(changes)
        return None if found is None else replace(found, plan=found.ready(found.plan))

    def with_values(self, changes: Mapping[str, float]) -> "ConfiguredCase | None":
        """The same, for formulas alone: the plan keeps its patience and its identity."""
        table, version = self.profile.settings, self.plan.client.version
        try:
            for name, value in changes.items():
                whole = table.find(name, version).kind == "count"
                table.check(name, int(value) if whole else value, version)
        except SettingError:
            return None
        changed = tuple(
            replace(named, value=float(changes[named.name]), text=text_of(named, changes[named.name]))
            if named.name in changes
            else named
            for named in self.plan.settings
        )
        if any(self.profile.conflicts(table.resolve({named.name: _value(named) for named in changed}, version))):
            return None
        return replace(self, plan=replace(self.plan, settings=changed))

    def ready(self, plan: RunPlan) -> RunPlan:
        """The plan with patience for what its formulas predict, and with an identity of its own."""
        longest_s = max((prediction.seconds for prediction in _holding(self.case, plan)), default=0.0)
        patience_s = max(LEAST_PATIENCE_S, PATIENCE * longest_s)
        steps = tuple(
            replace(step, give_up_after_s=max(step.give_up_after_s, patience_s))
            if isinstance(step, PlannedOperation)
            else step
            for step in plan.steps
        )
        limit_s = max(plan.limit_s, patience_s * len(steps))
        plan = replace(plan, steps=steps, limit_s=limit_s, environment="sim", seed=SEED)
        return replace(plan, run_id=identity(plan))


@dataclass(frozen=True, slots=True)
class Prediction:
    """A formula that holds, and its value."""

    cited: CitedFormula
    expectation: Expectation
    evaluated: Evaluated

    @property
    def seconds(self) -> float:
        return self.evaluated.number

    @property
    def tolerance_s(self) -> float:
        return tolerance_s(self.expectation, self.seconds)


def tolerance_s(expectation: Expectation, seconds: float) -> float:
    return expectation.within_relative * seconds + expectation.within_absolute


def text_of(named: ResolvedValue, value: float) -> str:
    """A value as it is written in a configuration."""
    return duration_text(value) if named.unit == "s" else f"{value:g}"


def _value(named: ResolvedValue) -> SettingValue:
    """As a settings table has it."""
    if named.value is None:
        return named.text
    if named.unit == "bool":
        return bool(named.value)
    return int(named.value) if named.unit == "count" else named.value


def configure_case(case: ExplainableCase, question: Question, addresses: Sequence[str] | None = None) -> ConfiguredCase:
    """`addresses` is the bootstrap list as a scenario writes it. Raises InvalidQuestion with all of its mistakes."""
    diagnostics, library = Diagnostics(case.path), FormulaLibrary(case.path.parent)
    mistakes: list[Mistake] = []
    row: dict[str, Entry] = {}

    def put(key: str, value: Tree) -> None:
        row[key] = Entry(ScalarNode(key, value.span, key, key), value)

    put("client.version", _quoted(question.version))
    if addresses is None and question.bootstrap is not None:
        addresses = [str(broker) for broker in range(1, question.bootstrap + 1)]
    members = sum(address.isdigit() for address in addresses or ())
    brokers = question.brokers or max(case.brokers, members)
    put("cluster.brokers", _scalar(str(brokers), mistakes))
    if members > brokers:
        told = f"{members} bootstrap addresses are more than the brokers: {brokers}"
        mistakes.append(Mistake(told, f"write --brokers {members}"))
        put("cluster.brokers", _scalar(str(members), mistakes))  # or each of them were a mistake of its own
    if addresses is not None:
        put("client.bootstrap", SequenceNode(tuple(_scalar(one, mistakes) for one in addresses), NOWHERE))
    steps = case.tree.get("steps")
    aliases = {alias_of(step) for step in steps.items} if isinstance(steps, SequenceNode) else set()
    known = _known(case, question.version)
    for name, text in question.given.items():
        parameter = name.partition(".")[0] in aliases and name not in known
        full = name if parameter else _full(name, known, mistakes)
        if f"settings.{full}" in row:
            mistakes.append(Mistake(f"{full} is set twice", "keep one of them"))
        put(full if parameter else f"settings.{full}", _scalar(text, mistakes, given=f"--set {name}={text}"))
    parts = {k: entry for k, entry in case.tree.entries.items() if k != "settings"}
    parts["matrix"] = Entry(_quoted("matrix"), SequenceNode((MappingNode(row, NOWHERE),), NOWHERE))
    cell = cells(MappingNode(parts, case.tree.span), diagnostics)[0]
    plan = resolve(cell, case.path, diagnostics, library)
    mistakes += [Mistake(p.message, p.hint) for p in _first_causes([*diagnostics.problems, *library.problems])]
    if plan is None or mistakes:
        raise InvalidQuestion(*dict.fromkeys(mistakes))
    profile = profile_of(plan.client)
    assert profile is not None, "cases have a profile"
    found = ConfiguredCase(case, plan, profile)
    return replace(found, plan=found.ready(plan))


def predictions(configured_case: ConfiguredCase) -> tuple[Prediction, ...]:
    """The formulas that hold, in the scenario's order."""
    return _holding(configured_case.case, configured_case.plan)


def prediction_for(configured_case: ConfiguredCase | None, measure: str) -> Prediction | None:
    """The first formula of this measure that holds; none does of settings that the client refuses."""
    if configured_case is None:
        return None
    return next(
        (prediction for prediction in predictions(configured_case) if prediction.cited.measure == measure), None
    )


def conditions(configured_case: ConfiguredCase, measure: str) -> tuple[str, ...]:
    """When each formula of the measure holds, whether it does or not."""
    of_measure = [configured_case.expectation(c) for c in configured_case.case.cited if c.measure == measure]
    return tuple(dict.fromkeys(expectation.when for expectation in of_measure if expectation.when is not None))


def settings_in(text: str, plan: RunPlan) -> tuple[str, ...]:
    """Full names of the settings that a formula or a condition names, each once."""
    names = [match[2] for match in QUOTED.finditer(text) if match[2]] + NAME.findall(QUOTED.sub(" ", text))
    known = {named.name for named in plan.settings}
    return tuple(dict.fromkeys(full for name in names if (full := plan.full_setting_name(name)) in known))


def _holding(case: ExplainableCase, plan: RunPlan) -> tuple[Prediction, ...]:
    found: list[Prediction] = []
    for cited in case.cited:
        expectation = plan.expectations[cited.index]
        if expectation.when is None or condition_holds(expectation.when, plan):
            found.append(Prediction(cited, expectation, evaluate(Formula.parse(cited.formula.text), plan)))
    return tuple(found)


def _known(case: ExplainableCase, version: str) -> tuple[str, ...]:
    return tuple(setting.name for setting in profile(case.client).settings.for_release(version))


def _full(name: str, known: tuple[str, ...], mistakes: list[Mistake]) -> str:
    """The full name where `name` is a unique end of one, else the name itself, which `resolve` judges."""
    ends = [full for full in known if full.endswith(f".{name}")]
    if name in known or not ends:
        return name
    if len(ends) > 1:
        mistakes.append(Mistake(f"{name} could be {' or '.join(ends)}", f"write {ends[0]}"))
    return ends[0]


def _first_causes(problems: list[Problem]) -> list[Problem]:
    """Each message once: all places are the same here, and the language reports every consequence of a mistake."""
    return list({(problem.message, problem.hint): problem for problem in problems}.values())


def _scalar(text: str, mistakes: list[Mistake], given: str = "") -> ScalarNode:
    value, wrong = core_value(text)
    if wrong is not None:
        mistakes.append(Mistake(*wrong))
    return ScalarNode(value, replace(NOWHERE, given=given), text, text)


def _quoted(text: str) -> ScalarNode:
    return ScalarNode(text, NOWHERE, text, text)
