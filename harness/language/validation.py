"""Turns pydantic's findings into problems, each at its place in the file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from harness.language.findings import Finding, Said, alternative, describe
from harness.language.yaml.diagnostics import Diagnostics
from harness.language.yaml.tree import Entry, MappingNode, NodePath, ScalarNode, SequenceNode, Tree, at, node, plain
from harness.quantities import quote_value
from harness.suggestions import did_you_mean

Model = TypeVar("Model", bound=BaseModel)


def parse_model(model: type[Model], tree: Tree, diagnostics: Diagnostics) -> Model | None:
    """The tree as a model, None where it does not fit; `diagnostics` has every reason."""
    if not isinstance(tree, MappingNode):
        diagnostics.add(tree.span, "type", f"a mapping is wanted here, not {_kind(tree)}", "write key: value")
        return None
    try:
        return model.model_validate(plain(tree))
    except ValidationError as error:
        findings = [finding for finding in error.errors(include_url=False) if not _follows(finding)]
        meant = {hint for finding in findings if (hint := _meant(finding, model, tree))}
        for finding in findings:
            if finding["type"] != "missing" or _place(finding, tree) not in meant:
                _note(finding, model, tree, diagnostics)
        return None


def entries_beside(tree: MappingNode, model: type[BaseModel]) -> dict[str, Entry]:
    """Entries that are not keys of the model: arguments of a step's operation, parameters of its fault."""
    known = keys_of(model, ())
    return {key: entry for key, entry in tree.entries.items() if key not in known}


def _follows(finding: Any) -> bool:
    """Whether a list is long enough and only its wrong items, which are reported, do not count for pydantic."""
    return bool(finding["type"] == "too_short" and len(finding["input"]) >= finding["ctx"]["min_length"])


def _meant(finding: Any, model: type[BaseModel], tree: Tree) -> NodePath | None:
    """The path of the key that an unknown key was probably meant to be. That one is not also reported as missing."""
    if finding["type"] != "extra_forbidden":
        return None
    loc = _place(finding, tree)
    hint = _key_hint(loc, model, tree)
    return (*loc[:-1], hint.removeprefix("did you mean ").removesuffix("?")) if hint.startswith("did") else None


def _place(finding: Any, tree: Tree) -> NodePath:
    """Where it is in the file: without the names that pydantic adds for the members of a union."""
    if not finding["loc"]:  # it is about the mapping as a whole, or about what it names
        named = finding.get("ctx", {}).get("parameter")
        return (named,) if named else ()
    *around, last = finding["loc"]
    path: list[str | int] = []
    for step in around:
        if isinstance(tree, MappingNode) and isinstance(step, str):
            if step not in tree.entries:
                continue
            tree = tree.entries[step].value
        elif isinstance(tree, SequenceNode) and isinstance(step, int) and step < len(tree.items):
            tree = tree.items[step]
        path.append(step)
    if around and isinstance(last, str) and not isinstance(tree, MappingNode):
        return tuple(path)  # the value is of no member's shape
    return (*path, last)


def _key_hint(loc: NodePath, model: type[BaseModel], tree: Tree) -> str:
    names = [name for name in keys_of(model, loc[:-1]) if name not in _given(tree, loc[:-1])]
    return did_you_mean(str(loc[-1]), names)


def _note(finding: Any, model: type[BaseModel], tree: Tree, diagnostics: Diagnostics) -> None:
    kind: str = finding["type"]
    loc = _place(finding, tree)
    context: Mapping[str, Any] = finding.get("ctx", {})
    if kind == "missing":
        where = at(tree, loc[:-1])
        owner = f" in `{loc[-2]}`" if len(loc) > 1 and isinstance(loc[-2], str) else ""
        diagnostics.add(where, "missing-key", f"`{loc[-1]}` is missing{owner}", f"add {loc[-1]}: ...")
    elif kind == "extra_forbidden":
        hint = _key_hint(loc, model, tree)
        diagnostics.add(at(tree, loc, key=True), "unknown-key", f"there is no key {quote_value(loc[-1])} here", hint)
    else:
        own = "text" in context and "hint" in context
        said = (kind, str(context["text"]), str(context["hint"])) if own else _said(finding, loc, model, tree)
        # An empty value was reported at its key; problems at one place are reported once.
        diagnostics.add(at(tree, loc, key=finding.get("input") is None), *said)


def _said(finding: Any, loc: NodePath, model: type[BaseModel], tree: Tree) -> Said:
    """The finding in words. Its hint is to write what fits: where what is probably meant does not, what is wrong with
    that."""
    there = node(tree, loc)
    found = _finding(finding, loc, model, there)
    code, message, hint = describe(found)
    instead = alternative(found)
    if instead is None or not isinstance(there, ScalarNode):
        return code, message, hint
    value, wording = instead
    refused = _refused(value, loc, model, tree)
    if refused is None:
        return code, message, wording
    written = replace(there, value=value, text=str(value))
    return code, message, describe(_finding(refused, loc, model, written))[2]


def _finding(finding: Any, loc: NodePath, model: type[BaseModel], there: Tree | None) -> Finding:
    info = _field_at(model, loc)
    return Finding(
        kind=finding["type"],
        given=finding.get("input"),
        context=finding.get("ctx", {}),
        message=finding["msg"],
        tree=there,
        about=(info.description if info else None) or "",
    )


def _refused(value: object, loc: NodePath, model: type[BaseModel], tree: Tree) -> Any | None:
    """What would be found at this place if the value stood there, None where it fits."""
    whole: Any = plain(tree)
    around = whole
    for step in loc[:-1]:
        around = around[step]
    around[loc[-1]] = value
    try:
        model.model_validate(whole)
    except ValidationError as error:
        return next((found for found in error.errors(include_url=False) if _place(found, tree) == loc), None)
    return None


def keys_of(model: type[BaseModel], path: NodePath) -> list[str]:
    """The keys that the part of the model at `path` knows, as files spell them."""
    return [info.alias or name for name, info in _part(model, path).model_fields.items()]


def _field_at(model: type[BaseModel], path: NodePath) -> FieldInfo | None:
    """The field that a value at `path` belongs to; an item of a list or of a mapping belongs to that one's field."""
    found: FieldInfo | None = None
    for step in path:
        info = _field(model, step)
        if info is not None:
            found, model = info, _model_in(info.annotation) or model
    return found


def _part(model: type[BaseModel], path: NodePath) -> type[BaseModel]:
    for step in path:
        info = _field(model, step)
        model = (_model_in(info.annotation) if info else None) or model
    return model


def _field(model: type[BaseModel], key: str | int) -> FieldInfo | None:
    return next((info for name, info in model.model_fields.items() if (info.alias or name) == key), None)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in getattr(annotation, "__args__", ()):
        found = _model_in(part)
        if found is not None:
            return found
    return None


def _given(tree: Tree, path: NodePath) -> list[str]:
    there = node(tree, path)
    return list(there.entries) if isinstance(there, MappingNode) else []


def _kind(tree: Tree) -> str:
    if isinstance(tree, ScalarNode):
        return quote_value(tree.text) if tree.text else "nothing"
    return "a list"
