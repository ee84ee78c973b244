"""Where an operation's time went, as lines: beside a formula's terms, or setting by setting where there is none."""

from collections.abc import Iterator

from rich.text import Text

from cli.show.formatting import WIDTH, amount, pluralized
from cli.show.rows import wrapped
from cli.show.strip import strip
from harness.judging import Breakdown, BreakdownRow

NAME = 24
"""Columns of the terms' names, of 80: a wider line has room for longer ones."""
MIN_SHARE = 0.001
"""Of the time: what took less is left out where no formula names it."""


def time_breakdown(breakdown: Breakdown, *, width: int = WIDTH) -> Iterator[Text]:
    """Terms or settings, the strip of waits, and the settings that were never waited on."""
    yield from _terms(breakdown, width) if breakdown.by_formula else _settings(breakdown, width)
    yield Text()
    yield from strip(breakdown, width=width)
    if breakdown.never_waited_on:
        yield wrapped(", ".join(breakdown.never_waited_on), lead="  never waited on  ", width=width)


def _terms(breakdown: Breakdown, width: int) -> Iterator[Text]:
    """The formula's terms beside what was measured."""
    names = min(NAME + width - WIDTH, max([len(row.text) for row in breakdown.rows] + [len("no term")]))
    yield Text(_line("", names, "formula", "measured", "difference"), style="dim")
    for row in breakdown.rows:
        yield Text(_line(row.text, names, _predicted(row), _measured(row), _difference(row)))
    rest_s = breakdown.unattributed_s
    yield Text(_line("no term", names, "", f"{rest_s:.3f}", f"{rest_s:+8.3f}"))


def _settings(breakdown: Breakdown, width: int) -> Iterator[Text]:
    """`14.000 s of 18.850 s is Net.DialTimeout, 14 x 1 s`, and the others below it."""
    least_s = MIN_SHARE * breakdown.measured_s
    parts = [(row.measured_s, f"{row.text}, {waits_text(row)}") for row in breakdown.rows if row.measured_s > least_s]
    if breakdown.unattributed_s > least_s:
        parts.append((breakdown.unattributed_s, "no wait on a setting"))
    whole = f" of {amount(breakdown.measured_s, 's')} is "
    figures = [amount(seconds, "s") for seconds, _ in parts]
    digits = max(map(len, figures), default=0)
    for number, ((_, words), figure) in enumerate(zip(parts, figures, strict=True)):
        lead = f"  {figure:>{digits}}{whole if number == 0 else ' ' * len(whole)}"
        yield wrapped(words, lead=lead, width=width)


def waits_text(row: BreakdownRow) -> str:
    """`14 x 1 s`; `14 x 1 s and 2 that ended early`; `3 waits` where the setting has no time of its own."""
    if not row.each_s:
        return pluralized(row.measured_count + row.ended_early, "wait")
    each = f"{row.each_s:g} s" if row.each_s >= 1 else f"{row.each_s * 1e3:g} ms"
    if not row.measured_count:
        return f"{pluralized(row.ended_early, 'wait')} that ended before {each}"
    rest_s = row.measured_s - row.measured_count * row.each_s
    told = row.ended_early and rest_s > MIN_SHARE * row.measured_s
    return f"{row.measured_count} x {each}" + (f" and {row.ended_early} that ended early" if told else "")


def _line(name: str, width: int, predicted_text: str, measured_text: str, difference: str) -> str:
    """A line of the table. Of a name that is too long, its end is what tells it from others."""
    shown = name if len(name) <= width else f"…{name[len(name) - width + 1 :]}"
    return f"  {shown:<{width}}  {predicted_text:>15}  {measured_text:>13}  {difference}".rstrip()


def _predicted(row: BreakdownRow) -> str:
    if row.predicted_count is None or row.each_s is None:
        return f"{row.predicted_s:.3f}" if row.predicted_s else "-"
    return f"{row.predicted_count:g} x {row.each_s:.3f} {row.predicted_s:>6.3f}"


def _measured(row: BreakdownRow) -> str:
    return "" if row.setting is None else f"{row.measured_count} x {row.measured_s:>7.3f}"


def _difference(row: BreakdownRow) -> str:
    return "" if row.setting is None else f"{row.difference_s:+8.3f}  {row.note}"
