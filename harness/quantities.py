"""Durations, rates, sizes and percentages as scenarios write them, and back. Imports nothing of faultlab.

A quantity always carries its unit: a bare `5` could be seconds or milliseconds, and guessing it would be off by a
thousand.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
BYTES = {"B": 1, "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
LONGEST_S = 366 * 24 * 3600
LARGEST_BYTES = 1 << 50
NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,18})?"
PART = re.compile(rf"({NUMBER})(ns|us|µs|ms|s|m|h)")
DURATION_PATTERN = rf"^(?:{NUMBER}(?:h|ms|us|µs|ns|m|s))+$"


class QuantityError(ValueError):
    """The text is no such quantity. `hint` says what to write instead, empty where nothing sensible can be said."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint


@lru_cache(maxsize=1024)
def duration_s(text: str) -> float:
    """Seconds of `250ms`, `2m` or `1m30s` (units fall from left to right). Raises QuantityError."""
    if text == "0":
        return 0.0
    parts = PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise QuantityError(f"{quote_value(text)} is not a duration", _duration_hint(text))
    scales = [NANOSECONDS[unit] for _, unit in parts]
    if any(later >= earlier for earlier, later in pairwise(scales)):
        raise QuantityError(f"{quote_value(text)}: units of a duration fall from left to right", "write it as 1m30s")
    exact = sum((Fraction(number) * scale for (number, _), scale in zip(parts, scales, strict=True)), Fraction(0))
    seconds = float(exact / NANOSECONDS["s"])
    if seconds > LONGEST_S:
        raise QuantityError(f"{quote_value(text)} is longer than a year", f"write at most {duration_text(LONGEST_S)}")
    return seconds


def signed_duration_s(text: str) -> float:
    """The same, or below zero as `-1s`: a client's own way to say never. Raises QuantityError."""
    return -duration_s(text[1:]) if text.startswith("-") else duration_s(text)


def _duration_hint(text: str) -> str:
    if re.fullmatch(NUMBER, text):
        return f"write its unit: {text}s or {text}ms"
    clock = re.fullmatch(r"(\d{1,4}):(\d{1,2})(?::(\d{1,2}))?", text)
    if clock:
        names = "hms" if clock[3] else "ms"
        return "write " + "".join(
            f"{int(n)}{unit}" for n, unit in zip(filter(None, clock.groups()), names, strict=True)
        )
    if PART.fullmatch(text.replace(" ", "")):
        return f"write {text.replace(' ', '')}"
    return "write it as 250ms, 1s or 1m30s"


def size_bytes(text: str) -> int:
    """Bytes of `512B`, `1KiB` or `2MB`. Raises QuantityError."""
    match = re.fullmatch(rf"({NUMBER})({'|'.join(BYTES)})", text)
    if match is None:
        raise QuantityError(f"{quote_value(text)} is not a size", "write it as 512B, 1KiB or 2MB")
    exact = Fraction(match[1]) * BYTES[match[2]]
    if exact > LARGEST_BYTES:
        raise QuantityError(f"{quote_value(text)} is more than 1 PiB", f"write at most {LARGEST_BYTES >> 30}GiB")
    if exact.denominator != 1:
        hint = f"write {floor(exact)}B or {ceil(exact)}B"
        raise QuantityError(f"{quote_value(text)} is no whole number of bytes", hint)
    return int(exact)


def throughput_bytes_per_s(text: str) -> int:
    """Bytes a second of `64KB/s`. Raises QuantityError."""
    size, slash, unit = text.rpartition("/")
    if (slash, unit) != ("/", "s"):
        raise QuantityError(f"{quote_value(text)} is no rate of bytes", "write it as 64KB/s")
    try:
        return size_bytes(size)
    except QuantityError as error:
        raise QuantityError(f"{quote_value(text)} is no rate of bytes", "write it as 64KB/s") from error


def rate_per_s(text: str) -> float:
    """Events a second of `200/s`, `30/m` or `1/h`. Raises QuantityError."""
    match = re.fullmatch(rf"({NUMBER})/(s|m|h)", text)
    if match is None:
        raise QuantityError(f"{quote_value(text)} is not a rate", "write it as 200/s")
    return float(Fraction(match[1]) * NANOSECONDS["s"] / NANOSECONDS[match[2]])


def percent(text: str) -> float:
    """The fraction that `1%` is: 0.01. Raises QuantityError."""
    match = re.fullmatch(rf"({NUMBER})%", text)
    if match is None:
        raise QuantityError(f"{quote_value(text)} is not a percentage", _percent_hint(text))
    return float(Fraction(match[1]) / 100)


def _percent_hint(text: str) -> str:
    if re.fullmatch(NUMBER, text) is None or not (number := float(text)):
        return "write it as 30%"
    if number == 1:
        return "write 1% or 100%"
    return f"write {percent_text(number) if number < 1 else f'{text}%'}"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a measurement may be from its prediction: `relative` (0.01 is 1 %) and `absolute` add up.

    `absolute` is in seconds, or a number where `unit` is `count`.
    """

    relative: float
    absolute: float
    unit: Literal["s", "count"] = "s"


@lru_cache(maxsize=1024)
def tolerance(text: str) -> Tolerance:
    """`1% + 50ms`, `50ms` or `2%`; of what is no time `0.08`. Raises QuantityError."""
    relative, absolute = 0.0, 0.0
    unit: Literal["s", "count"] = "s"
    seen: set[bool] = set()
    for part in (piece.strip() for piece in text.split("+")):
        is_percent = part.endswith("%")
        if is_percent in seen or not part:
            raise QuantityError(f"{quote_value(text)} is not a tolerance", "write it as 1% + 50ms")
        seen.add(is_percent)
        if is_percent:
            relative = percent(part)
        elif re.fullmatch(NUMBER, part) and part != "0":
            absolute, unit = float(part), "count"
        else:
            absolute = duration_s(part)
    return Tolerance(relative, absolute, unit)


def seconds_text(value_s: float) -> str:
    """For messages: `8.856 s`, always to the millisecond."""
    return f"{value_s:.3f} s"


def duration_text(value_s: float) -> str:
    """The shortest way to write a duration that `duration_s` reads back to the nanosecond: `250ms`, `1m30s`, `0s`."""
    left = round(value_s * 1e9)
    if left < 0:
        return "-" + duration_text(-value_s)
    text = ""
    for unit in ("h", "m"):
        whole, left = divmod(left, NANOSECONDS[unit])
        text += f"{whole}{unit}" if whole else ""
    if not left:
        return text or "0s"
    unit = "s" if text or left >= NANOSECONDS["s"] else "ms" if left >= NANOSECONDS["ms"] else "us"
    unit = "ns" if not text and left < NANOSECONDS["us"] else unit
    whole, rest = divmod(left, NANOSECONDS[unit])
    digits = len(str(NANOSECONDS[unit])) - 1
    decimals = f"{rest:0{digits}d}".rstrip("0") if rest else ""
    return f"{text}{whole}{'.' + decimals if decimals else ''}{unit}"


def percent_text(fraction: float) -> str:
    """A fraction as `percent` reads it: `50%`."""
    return f"{fraction * 100:.15g}%"


def quote_value(value: object, limit: int = 60) -> str:
    """A value of the user's as an error message may show it: in YAML's words, printable, and cut where it is long."""
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    text = "".join(c if c.isprintable() else "?" for c in text[: limit + 1])
    return f"`{text[:limit]}...`" if len(text) > limit else f"`{text}`"


Parsed = TypeVar("Parsed")


def _field(parse: Callable[[str], Parsed]) -> Callable[[object], Parsed]:
    """A pydantic validator for a quantity's text; its error carries the hint in `ctx`."""

    def validate(value: object) -> Parsed:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            text = (
                "a list" if isinstance(value, list) else "a mapping" if isinstance(value, dict) else quote_value(value)
            )
            raise PydanticCustomError("quantity", "{text}", {"text": f"{text} is not a quantity", "hint": ""})
        try:
            return parse(str(value))
        except QuantityError as error:
            raise PydanticCustomError("quantity", "{text}", {"text": error.text, "hint": error.hint}) from error

    return validate


@dataclass(frozen=True, slots=True)
class QuantityUnit:
    """Marks a model's field as a quantity, so that formulas know its unit."""

    unit: Literal["s", "count"]


Seconds = Annotated[
    float,
    BeforeValidator(_field(duration_s)),
    QuantityUnit("s"),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN, "examples": ["250ms", "1s", "1m30s"]}),
]
"""A field written as a duration, held in seconds."""

Size = Annotated[
    int,
    BeforeValidator(_field(size_bytes)),
    WithJsonSchema({"type": "string", "pattern": rf"^{NUMBER}({'|'.join(BYTES)})$", "examples": ["100B", "1KiB"]}),
]
"""A field written as a size, held in bytes."""

Throughput = Annotated[
    int,
    BeforeValidator(_field(throughput_bytes_per_s)),
    WithJsonSchema({"type": "string", "pattern": rf"^{NUMBER}({'|'.join(BYTES)})/s$", "examples": ["64KB/s"]}),
]
"""A field written as bytes in a second, held as their number."""

Share = Annotated[
    float,
    BeforeValidator(_field(percent)),
    WithJsonSchema({"type": "string", "pattern": rf"^{NUMBER}%$", "examples": ["30%"]}),
]
"""A field written as a percentage, held as a fraction."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A kind of quantity: its field, how its text is read (raises QuantityError), and how one is written."""

    field: object
    reads: Callable[[str], float]
    writes: Callable[[float], str]


QUANTITIES = (
    Quantity(Seconds, duration_s, duration_text),
    Quantity(Share, percent, percent_text),
    Quantity(Size, size_bytes, lambda number: f"{number:.0f}B"),
    Quantity(Throughput, throughput_bytes_per_s, lambda number: f"{number:.0f}B/s"),
)

ToleranceField = Annotated[
    Tolerance,
    BeforeValidator(_field(tolerance)),
    WithJsonSchema({"type": ["string", "number"], "examples": ["1% + 50ms", "50ms", 0.08]}),
]
"""A field written as a tolerance."""
