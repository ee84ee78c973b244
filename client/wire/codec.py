"""Builds a reader and a writer from a schema and a dataclass, once; every message then uses them.

Our dataclasses are the same for every version: a field that a version lacks keeps its default when read and is left
out when written. Everything that a version has must be a field of ours, except tagged fields, which are optional by
definition and skipped when read. Source: KIP-482 (flexible versions), KIP-893 (nullable structs).
"""

import dataclasses
import operator
import struct
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from client.wire.exceptions import MalformedDataError
from client.wire.primitives import (
    FIXED_SIZE_FORMATS,
    Read,
    Write,
    length_reader,
    length_writer,
    primitive,
    read_uvarint,
    truncated_error,
    write_uvarint,
)
from client.wire.schema import EntitySchema, FieldSchema


@dataclass(frozen=True, slots=True)
class Codec:
    """`read(data, position)` gives an object and the position behind it; `write(out, object)` appends its bytes.

    `read` raises Malformed. `write` raises ValueError naming the field whose value does not fit.
    """

    read: Read
    write: Write


@dataclass(frozen=True, slots=True)
class _Tagged:
    name: str
    default: Any
    codec: Codec


def compile_codec(schema: EntitySchema, model: type) -> Codec:
    """The codec of `model` at the schema's version. Raises TypeError where the two do not fit together."""
    field_types = typing.get_type_hints(model)
    defaults = {f.name: f.default for f in dataclasses.fields(model)}
    plain = [f for f in schema.fields if f.tag is None]
    for field in plain:
        if field.name not in field_types:
            raise TypeError(f"{model.__name__} has no field {field.name} for {schema.name}")
    absent = set(defaults) - {f.name for f in schema.fields}
    missing = sorted(name for name in absent if defaults[name] is dataclasses.MISSING)
    if missing:
        raise TypeError(f"{schema.name} lacks {', '.join(missing)}, which has no default in {model.__name__}")
    steps = [_step(run, field_types, flexible=schema.flexible) for run in _runs(plain)]
    tagged = {
        f.tag: _Tagged(f.name, defaults[f.name], _value(f, field_types[f.name], flexible=True))
        for f in schema.fields
        if f.tag is not None and f.name in field_types
    }
    if schema.flexible:
        steps.append(_tagged_fields(dict(sorted(tagged.items()))))
    readers = tuple(step[0] for step in steps)
    writers = tuple(step[1] for step in steps)

    def read(data: bytes, position: int) -> tuple[Any, int]:
        values: dict[str, Any] = {}
        for reader in readers:
            position = reader(data, position, values)
        return model(**values), position

    def write(out: bytearray, value: Any) -> None:
        if type(value) is not model:
            raise ValueError(f"a {model.__name__} expected, not {type(value).__name__}")
        for writer in writers:
            writer(out, value)

    return Codec(read, write)


_StepRead = Callable[[bytes, int, dict[str, Any]], int]
_Step = tuple[_StepRead, Write]


def _runs(fields: Sequence[FieldSchema]) -> list[list[FieldSchema]]:
    """Neighbouring fields of fixed size together, every other field alone."""
    runs: list[list[FieldSchema]] = []
    joins = False
    for field in fields:
        fixed = field.kind in FIXED_SIZE_FORMATS and not field.array
        if fixed and joins:
            runs[-1].append(field)
        else:
            runs.append([field])
        joins = fixed
    return runs


def _step(run: list[FieldSchema], field_types: dict[str, Any], *, flexible: bool) -> _Step:
    if run[0].kind in FIXED_SIZE_FORMATS and not run[0].array:
        return _fixed_step(run)
    (field,) = run
    name = field.name
    codec = _value(field, field_types[name], flexible=flexible)

    def read(data: bytes, position: int, values: dict[str, Any]) -> int:
        values[name], position = codec.read(data, position)
        return position

    def write(out: bytearray, value: Any) -> None:
        try:
            codec.write(out, getattr(value, name))
        except (TypeError, AttributeError, ValueError, struct.error) as wrong:
            raise ValueError(f"{name}: {wrong}") from wrong

    return read, write


def _fixed_step(run: list[FieldSchema]) -> _Step:
    form = struct.Struct(">" + "".join(FIXED_SIZE_FORMATS[f.kind] for f in run))
    names = tuple(f.name for f in run)
    get = operator.attrgetter(*names)
    single = len(names) == 1

    def read(data: bytes, position: int, values: dict[str, Any]) -> int:
        try:
            found = form.unpack_from(data, position)
        except struct.error:
            raise truncated_error(position, form.size, data) from None
        values.update(zip(names, found, strict=True))
        return position + form.size

    def write(out: bytearray, value: Any) -> None:
        try:
            out += form.pack(get(value)) if single else form.pack(*get(value))
        except struct.error as wrong:
            raise ValueError(f"{', '.join(names)}: {wrong}") from wrong

    return read, write


def _value(field: FieldSchema, declared: Any, *, flexible: bool) -> Codec:
    """The codec of one field's value, its array included."""
    if field.entity is not None:
        element = compile_codec(field.entity, _element_type(declared))
    else:
        nullable = field.nullable and not field.array
        element = Codec(*primitive(field.kind, nullable=nullable, flexible=flexible))
    if field.array:
        return _array(element, nullable=field.nullable, flexible=flexible)
    if field.entity is not None and field.nullable:
        return _nullable(element)
    return element


def _element_type(declared: Any) -> Any:
    """The dataclass inside `tuple[X, ...] | None`."""
    if typing.get_origin(declared) in (types.UnionType, typing.Union):
        (declared,) = (a for a in typing.get_args(declared) if a is not types.NoneType)
    return typing.get_args(declared)[0] if typing.get_origin(declared) is tuple else declared


def _array(element: Codec, *, nullable: bool, flexible: bool) -> Codec:
    read_length = length_reader("varint" if flexible else "i")
    write_length = length_writer("varint" if flexible else "i")
    read_element = element.read
    write_element = element.write

    def read(data: bytes, position: int) -> tuple[Any, int]:
        length, start = read_length(data, position)
        if length < 0:
            if length == -1 and nullable:
                return None, start
            raise MalformedDataError(position, f"an array of length {length}")
        # Every element takes a byte at least: a longer length is wrong, and is refused before memory is allocated.
        if length > len(data) - start:
            raise MalformedDataError(position, f"an array of {length} elements in {len(data) - start} bytes")
        elements = []
        for _ in range(length):
            value, start = read_element(data, start)
            elements.append(value)
        return tuple(elements), start

    def write(out: bytearray, values: Any) -> None:
        if values is None:
            if not nullable:
                raise TypeError("null where there must be an array")
            write_length(out, None)
            return
        write_length(out, len(values))
        for value in values:
            write_element(out, value)

    return Codec(read, write)


def _nullable(element: Codec) -> Codec:
    def read(data: bytes, position: int) -> tuple[Any, int]:
        if position >= len(data):
            raise truncated_error(position, 1, data)
        if data[position] == 0xFF:
            return None, position + 1
        return element.read(data, position + 1)

    def write(out: bytearray, value: Any) -> None:
        out.append(0xFF if value is None else 1)
        if value is not None:
            element.write(out, value)

    return Codec(read, write)


def _tagged_fields(known: dict[int, _Tagged]) -> _Step:
    def read(data: bytes, position: int, values: dict[str, Any]) -> int:
        count, position = read_uvarint(data, position)
        for _ in range(count):
            tag, position = read_uvarint(data, position)
            size, position = read_uvarint(data, position)
            end = position + size
            if end > len(data):
                raise truncated_error(position, size, data)
            field = known.get(tag)
            if field is not None:
                if field.name in values:
                    raise MalformedDataError(position, f"tag {tag} comes twice")
                values[field.name], read_to = field.codec.read(data, position)
                if read_to != end:
                    raise MalformedDataError(position, f"tag {tag} has {size} bytes, its value {read_to - position}")
            position = end
        return position

    def write(out: bytearray, value: Any) -> None:
        given = [(tag, f) for tag, f in known.items() if getattr(value, f.name) != f.default]
        write_uvarint(out, len(given))
        for tag, field in given:
            body = bytearray()
            try:
                field.codec.write(body, getattr(value, field.name))
            except (TypeError, AttributeError, ValueError, struct.error) as wrong:
                raise ValueError(f"{field.name}: {wrong}") from wrong
            write_uvarint(out, tag)
            write_uvarint(out, len(body))
            out += body

    return read, write
