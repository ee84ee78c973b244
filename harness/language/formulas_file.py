"""Reads formulas.yaml: each named formula with the places of its texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from harness.formulas.distribution import Draw, EndsAs, NamedDistribution, OutcomeFormula
from harness.formulas.evaluate import Formula
from harness.formulas.named import FormulaTerm, NamedFormula
from harness.formulas.syntax import FormulaError
from harness.language.format_version import has_other_format
from harness.language.formula_errors import report_formula_error
from harness.language.schema import Alias, FormulaText, Line, StrictModel
from harness.language.validation import parse_model
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.files import text_of
from harness.language.yaml.problems import Problems
from harness.language.yaml.tree import InvalidYaml, MappingNode, ScalarNode, SequenceNode, Tree, parse

FORMULAS_FILE = "formulas.yaml"
FORMULA_KEYS = ("holds_when", "up_to", "chance", "when", "term", "again", "lasting")
"""Keys of a distribution, and of what it consists of, that hold formulas."""


class TermText(StrictModel):
    """One addend of a named formula, and what the client does in that time."""

    term: FormulaText
    meaning: Line


class FormulaEntry(StrictModel):
    """A named formula: the sum of its terms."""

    about: Line
    holds_when: FormulaText | None = Field(
        default=None, description="Outside of this it says nothing; `sum` is what it comes to"
    )
    error: Line | None = Field(default=None, description="What the caller gets")
    sum: Annotated[list[TermText], Field(min_length=1, max_length=50)]
    source: Line


class DrawEntry(StrictModel):
    """A whole number that chance decides, from 0 on."""

    name: Alias
    up_to: FormulaText
    chance: FormulaText = Field(description="The chance of each value, which the formula knows by its name")
    meaning: Line


class OutcomeEntry(StrictModel):
    """How a call ends for a part of the draw's values, and what it waited for until then."""

    when: FormulaText | None = Field(default=None, description="Those values; without it, all that are left")
    ends: EndsAs
    sum: Annotated[list[TermText], Field(min_length=1, max_length=50)]
    again: FormulaText | None = Field(default=None, description="Mean time from this try's beginning to the next's")
    lasting: FormulaText | None = Field(default=None, description="When every later call ends in the same way")
    error: Line | None = None


class DistributionEntry(StrictModel):
    """A named distribution: what a time comes to where chance decides."""

    about: Line
    holds_when: FormulaText | None = None
    draw: DrawEntry
    outcomes: Annotated[list[OutcomeEntry], Field(min_length=1, max_length=20)]
    scenario: Line = Field(description="The bundled scenario that makes it happen")
    measure: Line = Field(description="The time of that scenario that it is of, as probe.time_to_end")
    source: Line


class FormulasFile(StrictModel):
    """formulas.yaml: the formulas that scenarios cite, and distributions that `explain` knows."""

    format: Literal[1]
    formulas: dict[Alias, FormulaEntry]
    distributions: dict[Alias, DistributionEntry] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LocatedFormula:
    """A named formula, its file, and the nodes of its terms and its condition."""

    formula: NamedFormula
    path: Path
    terms: tuple[ScalarNode, ...]
    condition: ScalarNode | None


def load_formulas(path: Path) -> Mapping[str, NamedFormula]:
    """Every formula of the file by name. Raises Problems."""
    return {name: located.formula for name, located in locate_formulas(path).items()}


def locate_formulas(path: Path) -> Mapping[str, LocatedFormula]:
    """Every formula of the file by name, with its places. Raises Problems."""
    return _read(text_of(path), path).formulas


def load_distributions(path: Path) -> Mapping[str, NamedDistribution]:
    """Every distribution of the file by name. Raises Problems."""
    return _read(text_of(path), path).distributions


@dataclass(frozen=True, slots=True)
class _Contents:
    formulas: Mapping[str, LocatedFormula]
    distributions: Mapping[str, NamedDistribution]


@lru_cache(maxsize=16)
def _read(source: str, path: Path) -> _Contents:
    diagnostics = Diagnostics(path)
    try:
        tree, problems = parse(source, path)
    except InvalidYaml as error:
        raise Problems(error.problems, {path: source}) from error
    diagnostics.problems.extend(problems)
    other = isinstance(tree, MappingNode) and has_other_format(tree, diagnostics)
    model = None if other else parse_model(FormulasFile, tree, diagnostics)
    entries = model.formulas if model is not None else {}
    found = {name: _located(name, entry, tree, diagnostics) for name, entry in entries.items()}
    drawn = model.distributions if model is not None else {}
    distributions = {name: _distribution(name, entry, tree, diagnostics) for name, entry in drawn.items()}
    if diagnostics.problems:
        raise Problems(diagnostics.problems, {path: source})
    return _Contents(found, distributions)


def _distribution(name: str, entry: DistributionEntry, tree: Tree, diagnostics: Diagnostics) -> NamedDistribution:
    body = _child(_child(tree, "distributions"), name)
    _check_formulas(body, diagnostics)
    return NamedDistribution(
        name=name,
        about=entry.about,
        condition=entry.holds_when,
        draw=Draw(entry.draw.name, entry.draw.up_to, entry.draw.chance, entry.draw.meaning),
        outcomes=tuple(
            OutcomeFormula(
                ends=one.ends,
                terms=tuple(FormulaTerm(term.term, term.meaning) for term in one.sum),
                condition=one.when,
                again=one.again,
                lasting=one.lasting,
                error=one.error,
            )
            for one in entry.outcomes
        ),
        scenario=entry.scenario,
        measure=entry.measure,
        source=entry.source,
    )


def _check_formulas(node: Tree | None, diagnostics: Diagnostics) -> None:
    """Report errors of syntax in every formula at or below the node."""
    if isinstance(node, SequenceNode):
        for item in node.items:
            _check_formulas(item, diagnostics)
    elif isinstance(node, MappingNode):
        for key, entry in node.entries.items():
            if key in FORMULA_KEYS:
                _formula_text(entry.value, diagnostics)
            else:
                _check_formulas(entry.value, diagnostics)


def _located(name: str, entry: FormulaEntry, tree: Tree, diagnostics: Diagnostics) -> LocatedFormula:
    body = _child(_child(tree, "formulas"), name)
    listed = _child(body, "sum")
    assert isinstance(listed, SequenceNode)
    terms = tuple(_formula_text(_child(item, "term"), diagnostics) for item in listed.items)
    condition = None if entry.holds_when is None else _formula_text(_child(body, "holds_when"), diagnostics)
    formula = NamedFormula(
        name=name,
        about=entry.about,
        terms=tuple(FormulaTerm(node.text, term.meaning) for node, term in zip(terms, entry.sum, strict=True)),
        condition=None if condition is None else condition.text,
        error=entry.error,
        source=entry.source,
    )
    return LocatedFormula(formula, diagnostics.path, terms, condition)


def _child(tree: Tree | None, key: str) -> Tree | None:
    assert isinstance(tree, MappingNode), "the schema lets nothing else through"
    return tree.get(key)


def _formula_text(node: Tree | None, diagnostics: Diagnostics) -> ScalarNode:
    """The node, which holds a formula. An error of its syntax is reported."""
    assert isinstance(node, ScalarNode), "the schema lets nothing else through"
    try:
        Formula.parse(node.text)
    except FormulaError as error:
        report_formula_error(error, node, diagnostics)
    return node
