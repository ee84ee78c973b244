"""Numbers and dates as people read them. Every figure of the page passes through here."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from harness.records.bounds import LIMITS

MINUS = "\u2212"
NO_VALUE = "\u2013"


def amount(value: float | None, unit: str) -> str:
    """`8.856 s`, `4`, `16.7 %` of a share; a dash where there is no value."""
    if value is None:
        return NO_VALUE
    if unit == "share":
        return f"{signed(100 * value, '.1f')} %"
    return f"{signed(value, '.3f')} s" if unit == "s" else signed(value, "g")


def bound(value: float | None, unit: str, *, at_least: bool) -> str:
    return f"\u2265 {amount(value, unit)}" if at_least and value is not None else amount(value, unit)


def short(seconds: float, *, at_least: bool = False) -> str:
    """For a small place: `126.85 s`, `0.30 s`, `4 ms`, `< 1 ms`."""
    sign = "\u2265 " if at_least else ""
    if 0 < seconds < 0.0005:
        return "< 1 ms"
    if abs(seconds) < 0.0995:
        return f"{sign}{signed(seconds * 1e3, '.0f')} ms"
    return f"{sign}{signed(seconds, '.2f')} s"


def signed(value: float, form: str) -> str:
    """With a real minus sign, and never `-0.000`."""
    return f"{float(value):z{form}}".replace("-", MINUS)


def difference(value: float, unit: str) -> str:
    """`+0.006 s`, `+2`, `0`; of shares `+1.2 points`. What rounds to nothing has no sign."""
    digits, word = {"s": (f"{abs(value):.3f}", " s"), "share": (f"{100 * abs(value):.1f}", " points")}.get(
        unit, (f"{abs(value):g}", "")
    )
    sign = "" if float(digits) == 0 else "+" if value > 0 else MINUS
    return f"{sign}{digits}{word}"


def predicted(row: Mapping[str, Any]) -> str:
    """The bound with its sign where it is not equality; both ends of a range; a word as it is."""
    if row["unit"] == "text":
        return str(row["formula"])
    if row.get("kind") == "between" and row["low"] is not None:
        return f"{amount(row['low'], row['unit']).removesuffix(' s')} .. {amount(row['high'], row['unit'])}"
    sign = {"at_most": "\u2264 ", "at_least": "\u2265 "}.get(row.get("kind") or "", "")
    return sign + amount(row["predicted"], row["unit"]) if row["predicted"] is not None else NO_VALUE


def tolerance(row: Mapping[str, Any]) -> str:
    """`± 0.137`, `- 0.105 + 0.175` where a timer's lateness counts on one side alone; `exactly`; of a bound nothing."""
    if row["predicted"] is None or row["high"] is None or row.get("kind") in LIMITS:
        return ""
    above = row["high"] - row["predicted"]
    below = above if row["low"] is None else row["predicted"] - row["low"]
    scale, form, points = (100.0, ".1f", " points") if row["unit"] == "share" else (1.0, ".3f", "")
    if row["unit"] not in ("s", "share"):
        form = "g"
        if not above and not below:
            return "exactly"
    up, down = (f"{scale * one:{form}}" for one in (above, below))
    return f"\u00b1 {up}{points}" if up == down else f"{MINUS} {down} + {up}{points}"


def measured(row: Mapping[str, Any]) -> str:
    """The median, `≥` where it is only a lower bound; of what is no number the words that were measured instead."""
    if row["median"] is None and row.get("words"):
        return ", ".join(row["words"])
    return bound(row["median"], row["unit"], at_least=bool(row["median_is_bound"]))


def spread(row: Mapping[str, Any]) -> str:
    """`8.851 to 8.858`; nothing where all runs agree."""
    low, high = row["min"], row["max"]
    if low is None or (row["unit"] == "count" and low == high):
        return ""
    form = ".3f" if row["unit"] == "s" else "g"
    if f"{low:{form}}" == f"{high:{form}}":
        return ""
    longest = "\u2265 " if row["censored"] and any(p["unended"] and p["time"] >= high for p in row["pairs"]) else ""
    return f"{signed(low, form)} to {longest}{signed(high, form)}"


def setting_value(seconds: float) -> str:
    """As people write a setting: `1 s`, `250 ms`."""
    return f"{seconds:g} s" if seconds >= 1 else f"{seconds * 1e3:g} ms"


def many(count: int, noun: str, plural: str | None = None) -> str:
    """`1 run`, `42 runs`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """`47 s`, `12 min 5 s`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def day(text: str) -> str:
    """`2 March 2026, 14:02 UTC` of an ISO moment; the text itself where it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    zone = moment.strftime("%Z").replace("UTC+00:00", "UTC")
    return f"{moment.day} {moment:%B %Y, %H:%M} {zone}".strip()
