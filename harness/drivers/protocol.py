"""Lines of the subject protocol to values and back (docs/SUBJECT_PROTOCOL.md). No I/O, no clock."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite

from client.events import Kind
from harness.drivers.errors import Fault, SubjectError
from harness.story import Value

INT64_MAX = 2**63 - 1
SHOWN = 200
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
    partition: int | None
    offset: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    id: str
    at_ns: int | None
    error: str
    error_class: str | None


@dataclass(frozen=True, slots=True)
class Trace:
    at_ns: int | None
    kind: str
    fields: Mapping[str, Value]


Event = Ready | Started | Ok | Failed | Trace

_TRACE_FIELDS: Mapping[str, type] = {
    "operation": str, "connection": int, "broker": int, "address": str, "api": str, "correlation_id": int,
    "bytes": int, "waiting_on": str, "limit_s": float, "purpose": str, "try_number": int, "outcome": str,
    "error": str, "error_class": str, "text": str,
}  # fmt: skip
_TRACE_KINDS = frozenset(kind.value for kind in Kind)


def encode(command: Mapping[str, str | int | float]) -> bytes:
    """A command as a line without its end. The id goes to a subject exactly as it stands in the scenario."""
    return json.dumps(command, separators=(",", ":"), ensure_ascii=False).encode()


def parse(line: bytes) -> Event:
    """What a subject's line says. Raises SubjectError with the line's beginning and what is wrong with it."""
    try:
        said = _DECODER.decode(line.decode())
    except (ValueError, RecursionError) as error:
        raise _garbage(line, f"is no JSON: {error}") from error
    if not isinstance(said, dict):
        raise _garbage(line, "is no JSON object")
    name = said.get("ev")
    if not isinstance(name, str):
        raise _garbage(line, "names no `ev`")
    reader = _READERS.get(name)
    if reader is None:
        known = ", ".join(_READERS)
        raise SubjectError(Fault.UNKNOWN_EVENT, f"said an unknown `ev`: {name[:SHOWN]!r} (known: {known})")
    try:
        return reader(said)
    except ValueError as error:
        raise _garbage(line, str(error)) from error


def _ready(said: dict[str, object]) -> Event:
    return Ready(_integer(said, "clock_ns"))


def _started(said: dict[str, object]) -> Event:
    return Started(_id(said), _integer(said, "at_ns"))


def _ok(said: dict[str, object]) -> Event:
    return Ok(_id(said), _integer(said, "at_ns"), _integer(said, "partition"), _integer(said, "offset"))


def _error(said: dict[str, object]) -> Event:
    error = _text(said, "error")
    if error is None:
        raise ValueError("has no `error`: the text as the client prints it")
    return Failed(_id(said), _integer(said, "at_ns"), error, _text(said, "class"))


def _trace(said: dict[str, object]) -> Event:
    kind = said.get("kind")
    if kind not in _TRACE_KINDS:
        raise ValueError(
            f"has an unknown kind of trace {str(kind)[:SHOWN]!r} (known: {', '.join(sorted(_TRACE_KINDS))})"
        )
    fields: dict[str, Value] = {}
    for name, value in said.items():
        if name in ("ev", "at_ns", "kind") or value is None:
            continue
        wanted = _TRACE_FIELDS.get(name)
        if wanted is None:
            raise ValueError(f"has an unknown field {name[:SHOWN]!r} (known: {', '.join(_TRACE_FIELDS)})")
        if wanted is str:
            fields[name] = _text(said, name)
        elif wanted is int:
            fields[name] = _integer(said, name)
        else:
            fields[name] = _number(said, name)
    return Trace(_integer(said, "at_ns"), str(kind), fields)


_READERS: Mapping[str, Callable[[dict[str, object]], Event]] = {
    "ready": _ready, "started": _started, "ok": _ok, "error": _error, "trace": _trace,
}  # fmt: skip


def _id(said: dict[str, object]) -> str:
    value = _text(said, "id")
    if value is None:
        raise ValueError("has no `id`")
    return value


def _text(said: dict[str, object], name: str) -> str | None:
    value = said.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"has a `{name}` that is no text")
    # JSON can spell half a surrogate pair, which no file in UTF-8 can hold.
    return None if value is None else value.encode("utf-8", "replace").decode()


def _integer(said: dict[str, object], name: str) -> int | None:
    value = said.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or abs(value) > INT64_MAX):
        raise ValueError(f"has a `{name}` that is no 64-bit integer")
    return value


def _number(said: dict[str, object], name: str) -> float | None:
    value = said.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= INT64_MAX:
        return float(value)
    if value is not None and (not isinstance(value, float) or not isfinite(value)):
        raise ValueError(f"has a `{name}` that is no number")
    return value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)
"""Made once: a decoder takes longer to make than a line to read."""


def _garbage(line: bytes, wrong: str) -> SubjectError:
    shown = line[:SHOWN].decode("utf-8", "backslashreplace") + ("…" if len(line) > SHOWN else "")
    return SubjectError(Fault.GARBAGE_LINE, f"said a line that {wrong}: {shown}")
