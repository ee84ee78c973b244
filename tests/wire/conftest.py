"""Hypothesis strategies for every body of every API, drawn from the schemas and the dataclasses themselves."""

import dataclasses
import types
import typing
from collections.abc import Callable
from functools import cache
from typing import Any
from uuid import UUID

import pytest
from hypothesis import strategies as st

from client.wire.api import Api
from client.wire.schema import Direction, EntitySchema, FieldSchema, message_schema

Drawn = Callable[[Api[Any, Any], int, Direction], st.SearchStrategy[Any]]

_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "error_code": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "timedelta_i32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "timedelta_i64": (-(2**63), 2**63 - 1),
    "datetime_i64": (-(2**63), 2**63 - 1),
}


@pytest.fixture(scope="session")
def drawn() -> Drawn:
    """Gives the strategy for one API's body at one version."""

    @cache
    def strategy(api: Api[Any, Any], version: int, direction: Direction) -> st.SearchStrategy[Any]:
        model = api.request if direction == "request" else api.response
        return _bodies(message_schema(api.module, version, direction).body, model)

    return strategy


def _bodies(schema: EntitySchema, model: type) -> st.SearchStrategy[Any]:
    """Objects of `model` with every field of the schema drawn, the others at their defaults."""
    field_types = typing.get_type_hints(model)
    drawn = {f.name: _values(f, field_types[f.name]) for f in schema.fields if f.name in field_types}
    assert set(drawn) <= {f.name for f in dataclasses.fields(model)}
    return st.builds(model, **drawn)


def _values(field: FieldSchema, declared: Any) -> st.SearchStrategy[Any]:
    if field.entity is not None:
        value = _bodies(field.entity, _element(declared))
    elif field.kind in _RANGES:
        value = st.integers(*_RANGES[field.kind])
    elif field.kind == "bool":
        value = st.booleans()
    elif field.kind == "string":
        value = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
    elif field.kind in ("bytes", "records"):
        value = st.binary(max_size=30)
    else:
        assert field.kind == "uuid"
        value = st.none() | st.binary(min_size=16, max_size=16).filter(any).map(lambda raw: UUID(bytes=raw))
    if field.array:
        value = st.lists(value, max_size=3).map(tuple)
    return st.none() | value if field.nullable else value


def _element(declared: Any) -> Any:
    if isinstance(declared, types.UnionType):
        (declared,) = (a for a in typing.get_args(declared) if a is not types.NoneType)
    return typing.get_args(declared)[0] if typing.get_origin(declared) is tuple else declared
