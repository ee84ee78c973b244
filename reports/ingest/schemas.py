"""Spark schemas derived from the record models, so that the run format has one definition.

`violation_sql` is the other half: the first way in which a parsed row breaks its model, because Spark reads leniently
(a missing field is null, an unknown verdict is just a string).
"""

import types
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin

import pyspark.sql.functions as F  # noqa: N812 - the name every Spark program uses
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pyspark.sql import Column
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)

SCALARS: dict[type, DataType] = {str: StringType(), int: LongType(), float: DoubleType(), bool: BooleanType()}


def schema_of(model: type[BaseModel]) -> StructType:
    """The model's fields in order, all nullable. Raises TypeError, naming the field, for a type that Spark lacks."""
    return StructType(
        [StructField(name, type_of(field.annotation, f"{model.__name__}.{name}")) for name, field in fields(model)]
    )


def fields(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo]]:
    yield from model.model_fields.items()


def type_of(annotation: Any, where: str) -> DataType:
    annotation = without_none(annotation)
    if annotation in SCALARS:
        return SCALARS[annotation]
    if get_origin(annotation) is Literal:
        kinds = {type(choice) for choice in get_args(annotation)}
        if len(kinds) == 1:
            return type_of(kinds.pop(), where)
    item = item_of(annotation)
    if item is not None:
        return ArrayType(type_of(item, where))
    if is_pair(annotation):
        return ArrayType(StringType())
    if is_model(annotation):
        return schema_of(annotation)
    raise TypeError(f"{where}: {annotation} has no Spark type; records hold scalars, records, and tuples of one type")


def without_none(annotation: Any) -> Any:
    """`X` of `X | None`."""
    if get_origin(annotation) in {Union, types.UnionType}:
        rest = [part for part in get_args(annotation) if part is not type(None)]
        if len(rest) == 1:
            return rest[0]
    return annotation


def item_of(annotation: Any) -> Any:
    """`X` of `tuple[X, ...]`, else None."""
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return arguments[0]
    return None


def is_pair(annotation: Any) -> bool:
    """`tuple[X, Y]` of scalars: JSON writes it as a list of mixed kinds, which Spark reads as a list of texts."""
    arguments = get_args(annotation)
    return get_origin(annotation) is tuple and bool(arguments) and all(one in SCALARS for one in arguments)


def is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def violation_sql(model: type[BaseModel], row: str) -> str:
    """SQL for why `row`, a struct of `schema_of(model)`, is not a valid `model`: text, or null where it is valid.

    SQL as text, because a record has some hundred checks: as column objects each is several calls into Java.
    """
    found = [one for name, field in fields(model) for one in field_violations_sql(field, name, f"{row}.`{name}`")]
    return f"coalesce({', '.join([*found, 'cast(null as string)'])})"


def field_violations_sql(field: FieldInfo, name: str, value: str) -> Iterator[str]:
    annotation = without_none(field.annotation)
    if annotation is field.annotation and field.is_required():
        yield f"if({value} is null, {text(f'`{name}` is missing or has the wrong type')}, null)"
    if get_origin(annotation) is Literal:
        choices = [str(choice) for choice in get_args(annotation)]
        one_of = ", ".join(text(choice) for choice in choices)
        wrong = f"concat({text(f'`{name}` is ')}, {value}, {text(', not one of ' + ', '.join(choices))})"
        yield f"if({value} not in ({one_of}), {wrong}, null)"
    item = item_of(annotation)
    if item is not None and is_model(item):
        entry = f"{name}_entry"
        inside = f"if({entry} is null, 'an entry is null', {violation_sql(item, entry)})"
        found = f"get(filter(transform({value}, {entry} -> {inside}), one -> one is not null), 0)"
        yield f"concat({text(f'`{name}`: ')}, {found})"
    elif item is not None:
        yield f"if(exists({value}, one -> one is null), {text(f'`{name}`: an entry is null')}, null)"
    elif is_model(annotation):
        yield f"if({value} is not null, concat({text(f'`{name}`: ')}, {violation_sql(annotation, value)}), null)"


def text(value: str) -> str:
    """A SQL literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def with_defaults(model: type[BaseModel], row: Column) -> list[Column]:
    """The row's fields as columns, with the model's defaults where an older line does not have them yet."""
    return [with_default(field, row[name]).alias(name) for name, field in fields(model)]


def with_default(field: FieldInfo, value: Column) -> Column:
    default = field.default
    if isinstance(default, str | int | float):
        return F.coalesce(value, F.lit(default))
    if default == ():
        return F.coalesce(value, F.array())
    return value
