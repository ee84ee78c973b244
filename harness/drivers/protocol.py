"""Lines of the subject protocol to values and back (docs/SUBJECT_PROTOCOL.md). No I/O, no clock."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from pydantic_core import from_json, to_json

from client.events import TraceKind
from harness.drivers.errors import ProtocolViolation, SubjectError
from harness.operations import ResultField
from harness.story import Value

INT64_MAX = 2**63 - 1
MAX_SHOWN_CHARS = 200
"""How much of a wrong line an error repeats."""


@dataclass(frozen=True, slots=True)
class Ready:
    clock_ns: int | None


@dataclass(frozen=True, slots=True)
class Started:
    id: str
    at_ns: int | None


@dataclass(frozen=True, slots=True)
class Ok:
    id: str
    at_ns: int | None
    result: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Failed:
    id: str
    at_ns: int | None
    error: str
    error_class: str | None


class Trace(NamedTuple):
    at_ns: int | None
    kind: str
    fields: Mapping[str, Value]


SubjectEvent = Ready | Started | Ok | Failed | Trace

_TRACE_KINDS = frozenset(kind.value for kind in TraceKind)


def encode(command: Mapping[str, str | int | float]) -> bytes:
    """A command as a line, without the line end. The id is the scenario's, unchanged."""
    return to_json(command)


ResultFields = Callable[[str], tuple[ResultField, ...]]
"""Takes the id of a call, gives the fields that its result may have."""


def parse(line: bytes | dict[str, Any], result_fields: ResultFields = lambda _id: ()) -> SubjectEvent:
    """Parse a line, or an event that a simulated subject handed over unserialized (the dict is consumed).

    Raises SubjectError with the line's beginning and what is wrong with it.
    """
    message: object = line
    plain = True
    if isinstance(line, bytes):
        try:
            message = from_json(line, allow_inf_nan=False)
        except ValueError:
            message, plain = _decoded(line), False
    if not isinstance(message, dict):
        raise _malformed_line(line, "is no JSON object")
    if plain and (trace := plain_trace(message)) is not None:
        return Trace(*trace)
    name = message.get("ev")
    if not isinstance(name, str):
        raise _malformed_line(line, "names no `ev`")
    reader = _READERS.get(name)
    if reader is None:
        known = ", ".join(_READERS)
        raise SubjectError(
            ProtocolViolation.UNKNOWN_EVENT, f"said an unknown `ev`: {name[:MAX_SHOWN_CHARS]!r} (known: {known})"
        )
    try:
        return reader(message, result_fields)
    except ValueError as error:
        raise _malformed_line(line, str(error)) from error


def _ready(message: dict[str, object], _: ResultFields) -> SubjectEvent:
    return Ready(_integer("clock_ns", message.get("clock_ns")))


def _started(message: dict[str, object], _: ResultFields) -> SubjectEvent:
    return Started(_id(message), _at_ns(message))


def _ok(message: dict[str, object], result_fields: ResultFields) -> SubjectEvent:
    call_id, at_ns = _id(message), _at_ns(message)
    result: dict[str, Value] = {}
    for field in result_fields(call_id):
        value = _CHECKS[_RESULT_TYPES[field.kind]](field.name, message.get(field.name))
        if value is not None:
            result[field.name] = value
    return Ok(call_id, at_ns, result)


def _error(message: dict[str, object], _: ResultFields) -> SubjectEvent:
    error = _text("error", message.get("error"))
    if error is None:
        raise ValueError("has no `error`: the text as the client prints it")
    return Failed(_id(message), _at_ns(message), error, _text("class", message.get("class")))


def _trace(message: dict[str, object], _: ResultFields) -> SubjectEvent:
    kind = message.get("kind")
    if kind not in _TRACE_KINDS:
        raise ValueError(
            f"has an unknown kind of trace {str(kind)[:MAX_SHOWN_CHARS]!r} (known: {', '.join(sorted(_TRACE_KINDS))})"
        )
    fields: dict[str, Value] = {}
    for name, value in message.items():
        if value is None or name in ("ev", "at_ns", "kind"):
            continue
        wanted = _TRACE_FIELDS.get(name)
        if wanted is None:
            raise ValueError(f"has an unknown field {name[:MAX_SHOWN_CHARS]!r} (known: {', '.join(_TRACE_FIELDS)})")
        fields[name] = _CHECKS[wanted](name, value)
    return Trace(_at_ns(message), str(kind), fields)


_READERS: Mapping[str, Callable[[dict[str, object], ResultFields], SubjectEvent]] = {
    "ready": _ready, "started": _started, "ok": _ok, "error": _error, "trace": _trace,
}  # fmt: skip


def _id(message: dict[str, object]) -> str:
    value = _text("id", message.get("id"))
    if value is None:
        raise ValueError("has no `id`")
    return value


def _at_ns(message: dict[str, object]) -> int | None:
    return _integer("at_ns", message.get("at_ns"))


def _text(name: str, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"has a `{name}` that is no text")
    # JSON can contain half a surrogate pair, which UTF-8 cannot encode.
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def _integer(name: str, value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > INT64_MAX:
        raise ValueError(f"has a `{name}` that is no 64-bit integer")
    return value


def _number(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= INT64_MAX:
        return float(value)
    if not isinstance(value, float) or not isfinite(value):
        raise ValueError(f"has a `{name}` that is no number")
    return value


_CHECKS: Mapping[type, Callable[[str, object], Value]] = {str: _text, int: _integer, float: _number}
_RESULT_TYPES: Mapping[str, type] = {"text": str, "integer": int, "number": float}
_TRACE_FIELDS: Mapping[str, type] = {
    "operation": str, "connection": int, "broker": int, "address": str, "api": str, "correlation_id": int,
    "bytes": int, "waiting_on": str, "limit_s": float, "purpose": str, "try_number": int, "outcome": str,
    "error": str, "error_class": str, "text": str,
}  # fmt: skip
_PLAIN_TYPES: Mapping[str, type] = {"ev": str, "at_ns": int, "kind": str, **_TRACE_FIELDS}


def plain_trace(message: dict[str, Any]) -> tuple[int, str, dict[str, Value]] | None:
    """The fields of a Trace, if the message is a valid one as a bundled client writes it; the dict is then consumed.

    Nearly every line of a run is one. Returns the same as the slower path through `parse`.
    """
    if message.get("ev") != "trace":
        return None
    plain_types = _PLAIN_TYPES
    for name, value in message.items():
        kind = type(value)
        if kind is not plain_types.get(name) or (kind is not str and not -INT64_MAX <= value <= INT64_MAX):
            return None
    if "at_ns" not in message or message.get("kind") not in _TRACE_KINDS:
        return None
    del message["ev"]
    return message.pop("at_ns"), message.pop("kind"), message


def _decoded(line: bytes) -> object:
    """Decode what the fast reader refuses: invalid JSON, but also half of a surrogate pair, which is valid.

    Raises SubjectError.
    """
    try:
        return _DECODER.decode(line.decode())
    except (ValueError, RecursionError) as error:
        raise _malformed_line(line, f"is no JSON: {error}") from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
"""Made once: a decoder takes longer to make than a line to read."""


def _malformed_line(line: bytes | dict[str, Any], wrong: str) -> SubjectError:
    text = line if isinstance(line, bytes) else to_json(line)
    shown = text[:MAX_SHOWN_CHARS].decode("utf-8", "backslashreplace") + ("…" if len(text) > MAX_SHOWN_CHARS else "")
    return SubjectError(ProtocolViolation.GARBAGE_LINE, f"said a line that {wrong}: {shown}")
