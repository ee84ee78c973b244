"""What the fields of a message are at a version, read off kio's generated entities. The only module that knows kio.

kio carries Apache Kafka's message schemas as one frozen dataclass per message and version. They are used as the
schema alone: kio's own decoder sets memory aside for whatever length an array claims to have, so that eight bytes of
garbage end the process, and its encoder is slow.
"""

import dataclasses
import importlib
import sys
import types
import typing
from dataclasses import dataclass
from functools import cache
from typing import Literal

from client.wire.exceptions import MessageError

Direction = Literal["request", "response"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSchema:
    """One field. `kind` is Kafka's type name (`int32`, `string`, ...), or `entity` with its own schema.

    `nullable` is said of the array where `array` is set, else of the value. `tag` is None for a field that is always
    there.
    """

    name: str
    kind: str
    array: bool
    nullable: bool
    tag: int | None
    entity: "EntitySchema | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySchema:
    """A message, or a struct inside one, at a version; `flexible`: compact lengths and tagged fields (KIP-482)."""

    name: str
    flexible: bool
    fields: tuple[FieldSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSchema:
    """A message's body and whether its header is the flexible one (request v2, response v1)."""

    body: EntitySchema
    flexible_header: bool


def _load_kio_alone() -> None:
    """Import kio without hypothesis.

    Where that testing library is installed, kio asks for it, to register strategies: half a second of every process,
    and a folder `.hypothesis` wherever the user stands. kio works without it.
    """
    if "kio" in sys.modules or "hypothesis" in sys.modules:
        return
    sys.modules["hypothesis"] = None  # type: ignore[assignment]  # how Python spells "not to be found"
    try:
        importlib.import_module("kio.static.primitive")
    finally:
        del sys.modules["hypothesis"]


_load_kio_alone()


@cache
def message_schema(module: str, version: int, direction: Direction) -> MessageSchema:
    """The schema of `metadata` v5's request, and so on. Raises MessageError where there is no such version."""
    try:
        found = importlib.import_module(f"kio.schema.{module}.v{version}.{direction}")
    except ModuleNotFoundError as missing:
        raise MessageError(f"{module} {direction}", version, None, "no such version is known") from missing
    entity: typing.Any = next(
        t for t in vars(found).values() if isinstance(t, type) and _is(t, direction) and _local(t, found)
    )
    return MessageSchema(body=_entity(entity), flexible_header=entity.__header_schema__.__flexible__)


def _is(entity: type, direction: Direction) -> bool:
    kind = getattr(entity, "__type__", None)
    return kind is not None and kind.name == direction


def _local(entity: type, module: types.ModuleType) -> bool:
    return entity.__module__ == module.__name__


def _entity(entity: typing.Any) -> EntitySchema:
    fields = tuple(_field(f) for f in dataclasses.fields(entity))
    return EntitySchema(name=entity.__name__, flexible=bool(entity.__flexible__), fields=fields)


def _field(field: "dataclasses.Field[typing.Any]") -> FieldSchema:
    declared, nullable = _without_none(field.type)
    array = typing.get_origin(declared) is tuple
    element = _without_none(typing.get_args(declared)[0])[0] if array else declared
    entity = _entity(element) if dataclasses.is_dataclass(element) else None
    kind = "entity" if entity is not None else str(field.metadata["kafka_type"])
    tag = field.metadata.get("tag")
    # kio hands durations and times over as objects and calls them `timeout`; Apache Kafka's schema has `timeoutMs`.
    in_milliseconds = kind.startswith(("timedelta", "datetime"))
    return FieldSchema(
        name=f"{field.name}_ms" if in_milliseconds else field.name,
        kind=kind,
        array=array,
        nullable=nullable and not in_milliseconds,
        tag=None if tag is None else int(tag),
        entity=entity,
    )


def _without_none(declared: typing.Any) -> tuple[typing.Any, bool]:
    if typing.get_origin(declared) not in (types.UnionType, typing.Union):
        return declared, False
    (inner,) = (a for a in typing.get_args(declared) if a is not types.NoneType)
    return inner, True
