"""One failed case in detail: what was expected, what came, where the time went, and how to run it again."""

from collections.abc import Iterator

from rich.text import Text

from cli.show.cases import Case, Finding
from cli.show.figures import COLOURS, WIDTH, WORDS, amount, measured, predicted, tolerance
from cli.show.rows import folded
from harness.expectations import Breakdown, Row, Segment

STRIP = 76
"""Columns of the strip that shows the waits one after another."""
NAME = 24
"""Columns of the terms' names."""
BACKING_OFF = "\N{MIDDLE DOT}"


def failure(case: Case, finding: Finding, breakdown: Breakdown | None, *, replay: str) -> Iterator[Text]:
    """The block of one failed expectation of a case. `breakdown` is None where the waits are not known."""
    judged, run = finding.judged, case.gravest
    yield _head(case, finding)
    if case.parameters:
        yield folded(case.parameters, lead="  with       ", style="dim")
    if judged.kind == "claim":
        declared = str(judged.declared_holds).lower()
        yield folded(f"claim {judged.outcome}, declared `holds: {declared}`: {judged.formula}", lead="  ")
    told = f"  expected   {predicted(judged)}{tolerance(judged)}   measured {measured(finding)}"
    repeats = " ".join(f"{value:.3f}" if judged.unit == "s" else f"{value:g}" for value in finding.every)
    if len(finding.every) > 1:
        told += f"   runs {repeats}" if len(told) + 8 + len(repeats) <= WIDTH else f"\n  runs       {repeats}"
    yield Text(told)
    error = next((o.error for o in run.operations if o.alias == judged.measure.rpartition(".")[0] and o.error), None)
    if error:
        yield folded(error, lead="  error      ")
    if breakdown is not None:
        yield Text()
        yield from where_it_went(breakdown)
    else:
        yield folded(f"{judged.formula}", lead="  formula    ")
    yield folded(replay, lead="  replay     ")


def trouble(case: Case, *, replay: str, logs: str | None) -> Iterator[Text]:
    """The block of a case that the lab ended, or that failed without an expectation's fault."""
    run = case.gravest
    yield Text(WORDS[case.verdict], style=COLOURS[case.verdict]).append(
        f"  {case.first.scenario}  {case.client}  {run.path}", style="default"
    )
    if case.parameters:
        yield folded(case.parameters, lead="  with       ", style="dim")
    for reason in run.reasons:
        yield folded(reason, lead="  ")
    if logs:
        yield folded(logs, lead="  logs       ")
    yield folded(replay, lead="  replay     ")


def where_it_went(breakdown: Breakdown) -> Iterator[Text]:
    """The table of terms, the strip of waits, and what was set in vain."""
    width = min(NAME, max([len(row.text) for row in breakdown.rows] + [len("no term")]))
    yield Text(_line("", width, "formula", "measured", "difference"), style="dim")
    for row in breakdown.rows:
        yield Text(_line(row.text, width, _predicted(row), _measured(row), _difference(row)))
    rest_s = breakdown.no_term_s
    yield Text(_line("no term", width, "", f"{rest_s:.3f}", f"{rest_s:+8.3f}"))
    yield Text()
    yield from _strip(breakdown)
    if breakdown.never_waited_on:
        yield folded(", ".join(breakdown.never_waited_on), lead="  never waited on  ")


def _head(case: Case, finding: Finding) -> Text:
    run, judged = case.first, finding.judged
    where = f"{run.path}:{judged.line}"
    text = Text("FAIL", style="bold red").append(f"  {run.scenario}  {judged.measure}", style="default")
    if text.cell_len + 3 + len(where) <= WIDTH:
        return text.append(f"   {where}", style="default")
    return text.append(f"\n      {where}", style="default")


def _line(name: str, width: int, predicted_text: str, measured_text: str, difference: str) -> str:
    """A line of the table. Of a name that is too long, its end is what tells it from others."""
    shown = name if len(name) <= width else f"…{name[len(name) - width + 1 :]}"
    return f"  {shown:<{width}}  {predicted_text:>15}  {measured_text:>13}  {difference}".rstrip()


def _predicted(row: Row) -> str:
    if row.predicted_count is None or row.each_s is None:
        return f"{row.predicted_s:.3f}" if row.predicted_s else "-"
    return f"{row.predicted_count:g} x {row.each_s:.3f} {row.predicted_s:>6.3f}"


def _measured(row: Row) -> str:
    return "" if row.setting is None else f"{row.measured_count} x {row.measured_s:>7.3f}"


def _difference(row: Row) -> str:
    return "" if row.setting is None else f"{row.difference_s:+8.3f}  {row.note}"


def _strip(breakdown: Breakdown) -> Iterator[Text]:
    """The waits laid end to end: `rrrrrrddd·ddd`, and where the formula ends."""
    end = max(breakdown.measured_s, breakdown.predicted_s)
    if not breakdown.segments or end <= 0:
        return
    letters = _letters(breakdown.segments)
    line = ""
    for segment in breakdown.segments:
        until = round(segment.ended_s / end * STRIP)
        line += letters[segment.setting] * (until - len(line))
    yield Text(f"  {line}")
    yield Text(f"  {_scale(breakdown, end)}")
    key = ", ".join(f"{letter} {setting or 'no term'}" for setting, letter in letters.items())
    yield folded(key, lead="  ", style="dim")


def _scale(breakdown: Breakdown, end_s: float) -> str:
    """Below the strip: its beginning, where the formula ends, and its own end."""
    mark = min(STRIP - 1, round(breakdown.predicted_s / end_s * STRIP))
    told = f"{breakdown.predicted_s:.3f} formula ends"
    last = amount(breakdown.measured_s, "s")
    if mark + len(told) + len(last) + 3 <= STRIP:
        return f"{'0'.ljust(mark)}^ {told}{last.rjust(STRIP - mark - 2 - len(told))}"
    left = f"0{told.rjust(mark - 2)} ^"
    return f"{left} {last}" if len(left) + 1 + len(last) <= STRIP else left


def _letters(segments: tuple[Segment, ...]) -> dict[str | None, str]:
    """One letter a setting, from its own name; back-offs are dots, and what waits on nothing is a space's stand-in."""
    letters: dict[str | None, str] = {}
    for setting in dict.fromkeys(segment.setting for segment in segments):
        name = "" if setting is None else setting.rpartition(".")[2].lower()
        wanted = "_" if setting is None else BACKING_OFF if "backoff" in name else ""
        candidates = [wanted, *name, *"abcdefghijklmnopqrstuvwxyz"]
        letters[setting] = next(c for c in candidates if c and (c == BACKING_OFF or c not in letters.values()))
    return letters
