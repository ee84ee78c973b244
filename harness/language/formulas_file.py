"""Reads formulas.yaml: each named formula with the places of its texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

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


class FormulasFile(StrictModel):
    """formulas.yaml: the formulas that scenarios cite."""

    format: Literal[1]
    formulas: dict[Alias, FormulaEntry]


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
    return _formulas(text_of(path), path)


@lru_cache(maxsize=16)
def _formulas(source: str, path: Path) -> Mapping[str, LocatedFormula]:
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
    if diagnostics.problems:
        raise Problems(diagnostics.problems, {path: source})
    return found


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
