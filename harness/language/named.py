"""formulas.yaml: formulas that have a name, each written once, with what every term of them means.

A scenario cites one as `equals: formula(established_blackhole)`; `explain` prints its terms, meanings and source.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from harness.formulas.evaluate import Formula
from harness.formulas.syntax import FormulaError
from harness.language.format_version import has_other_format
from harness.language.schema import FormulaEntry, FormulasFile
from harness.language.validation import parse_model
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.files import text_of
from harness.language.yaml.problems import Problems, Span
from harness.language.yaml.tree import InvalidYaml, MappingNode, ScalarNode, SequenceNode, Tree, at, parse

FORMULAS_FILE = "formulas.yaml"
CITATION = re.compile(r"\s*formula\(\s*['\"]?([A-Za-z][A-Za-z0-9_]*)['\"]?\s*\)\s*")
PLUS = " + "
SUM = re.compile(r"(?<![\w.])sum(?![\w.(])")
"""What a formula's own condition calls all of it."""


@dataclass(frozen=True, slots=True)
class FormulaTerm:
    """One addend as written, and what the client does in that time."""

    text: str
    meaning: str
    place: ScalarNode


@dataclass(frozen=True, slots=True)
class NamedFormula:
    """`text` is the sum of the terms; outside of `holds_when` it says nothing. `error` is what the caller gets.

    `condition` is `holds_when` as written, where `sum` stands for the formula itself.
    """

    name: str
    about: str
    terms: tuple[FormulaTerm, ...]
    holds_when: str | None
    error: str | None
    source: str
    span: Span
    condition: Tree | None = None

    @property
    def text(self) -> str:
        return PLUS.join(term.text for term in self.terms)

    def term_at(self, offset: int) -> tuple[FormulaTerm, int]:
        """The term in which a character of `text` stands, and where in `text` that term begins."""
        starts = [0, *accumulate(len(term.text) + len(PLUS) for term in self.terms)]
        index = max(i for i in range(len(self.terms)) if starts[i] <= offset)
        return self.terms[index], starts[index]


def cited(text: str) -> str | None:
    """The name in `formula(name)`, None where the text is no citation."""
    match = CITATION.fullmatch(text)
    return match[1] if match else None


def load_formulas(path: Path) -> Mapping[str, NamedFormula]:
    """Every formula of the file by name. Raises Problems."""
    return _formulas(text_of(path), path)


@lru_cache(maxsize=16)
def _formulas(source: str, path: Path) -> Mapping[str, NamedFormula]:
    diagnostics = Diagnostics(path)
    try:
        tree, problems = parse(source, path)
    except InvalidYaml as error:
        raise Problems(error.problems, {path: source}) from error
    diagnostics.problems.extend(problems)
    other = isinstance(tree, MappingNode) and has_other_format(tree, diagnostics)
    model = None if other else parse_model(FormulasFile, tree, diagnostics)
    found: dict[str, NamedFormula] = {}
    if model is not None:
        for name, entry in model.formulas.items():
            found[name] = _formula(name, entry, tree, diagnostics)
    if diagnostics.problems:
        raise Problems(diagnostics.problems, {path: source})
    return found


def _formula(name: str, entry: FormulaEntry, tree: Tree, diagnostics: Diagnostics) -> NamedFormula:
    assert isinstance(tree, MappingNode)
    formulas = tree.get("formulas")
    body = formulas.get(name) if isinstance(formulas, MappingNode) else None
    assert isinstance(body, MappingNode)
    listed = body.get("sum")
    assert isinstance(listed, SequenceNode)
    terms: list[FormulaTerm] = []
    for item, term in zip(listed.items, entry.sum, strict=True):
        place = item.get("term") if isinstance(item, MappingNode) else None
        assert isinstance(place, ScalarNode)
        _check(place, diagnostics)
        terms.append(FormulaTerm(place.text, term.meaning, place))
    condition = body.get("holds_when")
    if isinstance(condition, ScalarNode):
        _check(condition, diagnostics)
    text = PLUS.join(term.text for term in terms)
    given = isinstance(condition, ScalarNode) and entry.holds_when is not None
    holds_when = SUM.sub(f"({text})", condition.text) if given and isinstance(condition, ScalarNode) else None
    where = at(tree, ("formulas", name), key=True)
    return NamedFormula(name, entry.about, tuple(terms), holds_when, entry.error, entry.source, where, condition)


def _check(place: ScalarNode, diagnostics: Diagnostics) -> None:
    try:
        Formula.parse(place.text)
    except FormulaError as error:
        diagnostics.formula(error, place)
