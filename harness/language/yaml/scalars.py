"""The meaning of a YAML scalar by the core schema of YAML 1.2, and the place of each of its characters in the file."""

import re
from collections.abc import Iterator

from harness.quantities import quote_value

Plain = str | int | float | bool | None

CORE = {"": None, "~": None, "null": None, "Null": None, "NULL": None,
        "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}  # fmt: skip
NUMERIC = frozenset("+-.0123456789")
YAML_1_1_TRUE, YAML_1_1_FALSE = {"on", "yes", "y"}, {"off", "no", "n"}


def core_value(text: str) -> tuple[Plain, tuple[str, str] | None]:
    """What a plain scalar means by YAML 1.2's core schema, and (message, hint) where it is likely meant otherwise."""
    if text in CORE:
        return CORE[text], None
    if text[0] in NUMERIC:
        return _number(text)
    folded = text.casefold()
    if folded in YAML_1_1_TRUE | YAML_1_1_FALSE:
        meant = "true" if folded in YAML_1_1_TRUE else "false"
        return text, (f"{quote_value(text)} is a text in YAML 1.2, not a switch", f"write {meant}, or quote it")
    return text, None


def _number(text: str) -> tuple[Plain, tuple[str, str] | None]:
    """A number, a time of day, or a text, for what begins like a number."""
    if re.fullmatch(r"[-+]?[0-9]{1,18}", text):
        if re.fullmatch(r"[-+]?0[0-9]+", text):
            return int(text), (f"{quote_value(text)} has a leading zero", f"write {int(text)}, or quote it")
        return int(text), None
    if re.fullmatch(r"0o[0-7]{1,20}|0x[0-9a-fA-F]{1,15}", text):
        return int(text, 0), None
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", text):
        number = float(text)
        if abs(number) < 1e18:
            return number, None
        return 0, (f"{quote_value(text)} is too large", "write a smaller number, or quote it")
    if re.fullmatch(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", text):
        return 0, (f"{quote_value(text)} is no number here", "write a finite number, or quote it")
    clock = re.fullmatch(r"([0-9]{1,4}):([0-9]{1,2})(?::([0-9]{1,2}))?", text)
    if clock:
        units = "hms" if clock[3] else "ms"
        meant = "".join(f"{int(n)}{u}" for n, u in zip(filter(None, clock.groups()), units, strict=True))
        return text, (f"{quote_value(text)} is a text in YAML 1.2, not a time", f"write {meant}, or quote it")
    return text, None


def source_offsets(text: str, raw: str) -> Iterator[int]:
    """For each character of a scalar's text, its offset in the raw source: folding and quotes are walked over.

    Stops at the first character that is written differently (an escape): later places are not known.
    """
    header = re.match(r"[|>][-+0-9]*[^\r\n]*(\r\n|\n|\r)", raw)
    offset = header.end() if header else len(re.match(r"[\"']?", raw).group())  # type: ignore[union-attr]
    for character in text:
        if character.isspace():
            yield min(offset, max(0, len(raw) - 1))
            while offset < len(raw) and raw[offset].isspace():
                offset += 1
            continue
        while offset < len(raw) and raw[offset].isspace():
            offset += 1
        if raw[offset : offset + 2] == "''" and character == "'":
            offset += 1
        if offset >= len(raw) or raw[offset] != character:
            return
        yield offset
        offset += 1
