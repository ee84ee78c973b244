"""What a finding of pydantic's is in plain words: a code, a message and a hint, none of them in the library's words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.language.schema import PATTERN_HINTS
from harness.language.yaml.tree import ScalarNode, Tree
from harness.quantities import QUANTITIES, QuantityError, percent, quote_value
from harness.suggestions import did_you_mean


@dataclass(frozen=True, slots=True)
class Finding:
    """One of pydantic's. `tree` is what the file has at its place, None where that is nothing of its own; `about` is
    the description of the field."""

    kind: str
    given: object
    context: Mapping[str, Any]
    message: str
    tree: Tree | None
    about: str

    @property
    def text(self) -> str:
        """What is written there, as a message may show it."""
        if isinstance(self.given, dict | list):
            return "a mapping" if isinstance(self.given, dict) else "a list"
        if self.given is None:
            return "nothing"
        # Pydantic may know a quantity only as the number that was made of it.
        return quote_value(self.tree.text if isinstance(self.tree, ScalarNode) else self.given)


Said = tuple[str, str, str]
"""A code, a message and a hint."""

_NUMBER = ("a number", "write one such as 0.5")
_WHOLE_NUMBER = ("a whole number", "write digits without quotes")
_SWITCH = ("true or false", "write true or false")
_LIST = ("a list", "write [...]")
_MAPPING = ("a mapping", "write {key: value}")
_WANTED = {
    "string_type": ("a text", ""),
    "float_type": _NUMBER, "float_parsing": _NUMBER, "finite_number": _NUMBER,
    "int_type": _WHOLE_NUMBER, "int_from_float": _WHOLE_NUMBER, "int_parsing": _WHOLE_NUMBER,
    "int_parsing_size": _WHOLE_NUMBER,
    "bool_type": _SWITCH, "bool_parsing": _SWITCH,
    "list_type": _LIST, "tuple_type": _LIST,
    "dict_type": _MAPPING, "mapping_type": _MAPPING, "model_type": _MAPPING, "model_attributes_type": _MAPPING,
}  # fmt: skip
"""By the kind of finding: what is wanted, and the hint."""

_BOUNDS = {
    "greater_than_equal": ("small", "at least", "ge"),
    "greater_than": ("small", "more than", "gt"),
    "less_than_equal": ("large", "at most", "le"),
    "less_than": ("large", "less than", "lt"),
}
"""By the kind of finding: what a value is too much of, how its bound is called, and where pydantic keeps that."""


def describe(finding: Finding) -> Said:
    """What to say of it."""
    if finding.kind in _WANTED:
        wanted, hint = _WANTED[finding.kind]
        return "type", f"{wanted} is wanted here, not {finding.text}", hint
    if finding.kind in _BOUNDS:
        much, words, key = _BOUNDS[finding.kind]
        return "range", f"{finding.text} is too {much}", f"{words} {_bound(finding.context[key], finding.tree)}"
    return _OTHERS.get(finding.kind, _own_words)(finding)


def alternative(finding: Finding) -> tuple[str | float, str] | None:
    """A value that was perhaps meant, and the hint to write it, None where there is none. It may be refused as well."""
    if not isinstance(finding.tree, ScalarNode):
        return None
    text = finding.tree.text
    if finding.kind == "string_type" and isinstance(finding.given, int | float):
        return text, f"put it in quotes: '{text}'"
    if _WANTED.get(finding.kind) is _NUMBER and text.endswith("%"):
        try:
            return percent(text), f"write {percent(text):.15g}"
        except QuantityError:
            return None
    return None


def _bound(bound: float, tree: Tree | None) -> str:
    """A bound as the file would write it: in the kind of quantity that stands there, else as a number."""
    if isinstance(tree, ScalarNode) and isinstance(tree.value, str):
        for quantity in QUANTITIES:
            try:
                quantity.reads(tree.value)
            except QuantityError:
                continue
            return quantity.writes(bound)
    return f"{bound:.15g}"


def _unknown_value(finding: Finding) -> Said:
    expected = [word.strip("'") for word in str(finding.context["expected"]).replace(" or ", ", ").split(", ")]
    hint = did_you_mean(str(finding.given), expected)
    return "unknown-value", f"{finding.text} is none of {', '.join(expected)}", hint


def _misspelt(finding: Finding) -> Said:
    pattern = str(finding.context.get("pattern"))
    hint = PATTERN_HINTS.get(pattern) or finding.about or f"it has to match {pattern}"
    return "name", f"{finding.text} is not spelt as this has to be", hint


def _too_short(finding: Finding) -> Said:
    given, least = finding.given, finding.context["min_length"]
    message = f"{len(given)} is too few" if isinstance(given, list | dict | str) and given else "this is empty"
    return "range", message, f"write at least {'one' if least == 1 else least}"


def _too_long(finding: Finding) -> Said:
    return "range", "this is too long", f"at most {finding.context.get('max_length')}"


def _own_words(finding: Finding) -> Said:
    """Of a model's own check, which says it in its own words: those of a whole mapping need no subject."""
    message = finding.message.removeprefix("Value error, ")
    return "value", message if isinstance(finding.given, dict) else f"{finding.text}: {message}", ""


_OTHERS: Mapping[str, Callable[[Finding], Said]] = {
    "literal_error": _unknown_value,
    "string_pattern_mismatch": _misspelt,
    "too_short": _too_short,
    "string_too_short": _too_short,
    "too_long": _too_long,
    "string_too_long": _too_long,
}
