"""Settings that a case is explained with though nobody asked for them: without them its formulas say nothing.

A Writer of kafka-go waits for no acknowledgement by default, so that no fault makes its send wait; a user who asks what
a fault costs means one that does. A case assumes what its own scenario sets, of settings that keep its formulas from
holding: words and switches alone (acknowledgements, TLS), never a time or a count, which the answer is about.
"""

from dataclasses import dataclass, replace

from harness.explaining.cases import ExplainableCase
from harness.explaining.configured_case import ConfiguredCase, Question, configure_case, predictions, settings_in
from harness.explaining.conjuncts import VERSION, conjuncts, failing_conjuncts
from harness.plan import ResolvedValue


@dataclass(frozen=True, slots=True)
class Assumption:
    """A setting by its full name, the text that is assumed, and what it is by default."""

    name: str
    text: str
    default: str


@dataclass(frozen=True, slots=True)
class AssumingCase:
    """A configured case, and what it assumes."""

    configured_case: ConfiguredCase
    assumed: tuple[Assumption, ...] = ()


def configure_assuming(case: ExplainableCase, question: Question) -> AssumingCase:
    """The case as asked; where none of its formulas holds, with its scenario's values of the settings that keep them
    from it, if that is enough. What the question gives stays. Raises InvalidQuestion."""
    asked = configure_case(case, question)
    if predictions(asked):
        return AssumingCase(asked)
    assumed = assumptions(asked, question, failing_reasons(asked))
    if assumed:
        assuming = configure_case(case, assume(question, assumed))
        if predictions(assuming):
            return AssumingCase(assuming, assumed)
    return AssumingCase(asked)


def assumptions(asked: ConfiguredCase, question: Question, reasons: tuple[str, ...]) -> tuple[Assumption, ...]:
    """What the scenario sets of what the reasons name, as far as that is a mode and the question leaves it open."""
    missing = (name for reason in reasons for name in settings_in(reason, asked.plan))
    given = {asked.plan.full_setting_name(name) for name in question.given}
    return tuple(
        Assumption(name, asked.case.settings[name], asked.settings[name].text)
        for name in dict.fromkeys(missing)
        if name in asked.case.settings and name not in given and _is_mode(asked.settings[name])
    )


def assume(question: Question, assumed: tuple[Assumption, ...]) -> Question:
    """The question as if somebody had set what is assumed."""
    return replace(question, given={**question.given, **{one.name: one.text for one in assumed}})


def _is_mode(setting: ResolvedValue) -> bool:
    return setting.value is None or setting.unit == "bool"


def failing_reasons(configured_case: ConfiguredCase) -> tuple[str, ...]:
    """What keeps the formula from holding that comes nearest to it: little is missing, and much is as it asks."""
    whens = [(configured_case.expectation(cited).when, cited.formula.text) for cited in configured_case.case.cited]
    missing = [
        (failing_conjuncts(when, configured_case, formula_text), len(conjuncts(when)))
        for when, formula_text in whens
        if when is not None
    ]
    return min(missing, key=lambda one: (of_release(one[0]), len(one[0]), -one[1]))[0]


def of_release(reasons: tuple[str, ...]) -> bool:
    """Whether the release is among what keeps a formula from holding."""
    return any(VERSION in reason for reason in reasons)
