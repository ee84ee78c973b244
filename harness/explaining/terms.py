"""A formula's time, split by what the client waits for, and what it does in each part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from harness.explaining.configured_case import ConfiguredCase, Prediction
from harness.formulas.evaluate import evaluate
from harness.quantities import duration_text

Origin = Literal["given", "default", "scenario"]


@dataclass(frozen=True, slots=True)
class TermShare:
    """So many of a term's waits, and what the client does in them."""

    count: float
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedTerm:
    """`name` is a setting's full name where `is_setting`, else a parameter of the fault. Its value was `given`, or is
    the client's `default`, or the one that the `scenario` tries."""

    name: str
    is_setting: bool
    origin: Origin
    count: float
    each_s: float
    text: str
    shares: tuple[TermShare, ...]

    @property
    def total_s(self) -> float:
        return self.count * self.each_s


def explained_terms(configured_case: ConfiguredCase, prediction: Prediction) -> tuple[ExplainedTerm, ...]:
    """One for each thing waited for, in the order in which the formula first names it; together they are its time. A
    formula that says `0s` names none."""
    plan = configured_case.plan
    texts = {named.name: named.text for named in plan.settings}
    given = {*plan.given_settings, *(parameter.name for parameter in plan.parameters)}
    shares: dict[str, list[TermShare]] = {}
    for name, share in _shares(configured_case, prediction):
        shares.setdefault(name, []).append(share)
    return tuple(
        ExplainedTerm(
            name=term.setting or term.text,
            is_setting=term.setting is not None,
            origin="given" if (term.setting or term.text) in given else "default" if term.setting else "scenario",
            count=term.count or 0.0,
            each_s=term.each or 0.0,
            text=texts[term.setting] if term.setting else duration_text(term.each or 0.0),
            shares=tuple(shares.get(term.text, ())),
        )
        for term in prediction.evaluated.terms
        if term.setting or term.each or term.text in given
    )


def _shares(configured_case: ConfiguredCase, prediction: Prediction) -> Iterator[tuple[str, TermShare]]:
    for meant in prediction.cited.formula.terms:
        for term in evaluate(meant.text, configured_case.plan).terms:
            yield term.text, TermShare(term.count or 0.0, meant.meaning)
