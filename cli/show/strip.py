"""The strip: an operation's waits one after another, a letter for each setting, each as wide as it lasted."""

from collections import Counter
from collections.abc import Iterator

from rich.text import Text

from cli.show.formatting import WIDTH, amount
from cli.show.rows import wrapped
from harness.judging import Breakdown, BreakdownSegment
from harness.records.short_names import subject_word

MARGINS = 4
"""Columns beside the strip."""
FARTHEST_LIMIT = 2.0
"""A limit that lies farther away than so many times the measured time is not drawn."""
BACKING_OFF = "\N{MIDDLE DOT}"


def strip(breakdown: Breakdown, *, key: bool = True, width: int = WIDTH) -> Iterator[Text]:
    """The waits laid end to end: `rrrrrrddd·ddd`, where the formula ends, and the `key` to the letters."""
    far = breakdown.is_limit and breakdown.predicted_s > FARTHEST_LIMIT * breakdown.measured_s
    end = breakdown.measured_s if far else max(breakdown.measured_s, breakdown.predicted_s)
    if not breakdown.segments or end <= 0:
        return
    letters, columns = letters_of(breakdown.segments), width - MARGINS
    yield Text(f"  {_line(breakdown.segments, end, letters, columns)}")
    yield Text(f"  {_scale(breakdown, end, columns, marked=not far)}")
    if key:
        named = ", ".join(f"{letter} {setting or 'no term'}" for setting, letter in letters.items())
        yield wrapped(named, lead="  ", style="dim", width=width)


def _line(segments: tuple[BreakdownSegment, ...], end_s: float, letters: dict[str | None, str], columns: int) -> str:
    line = ""
    for segment in segments:
        until = round(segment.ended_s / end_s * columns)
        line += letters[segment.setting] * (until - len(line))
    return line


def _scale(breakdown: Breakdown, end_s: float, columns: int, *, marked: bool) -> str:
    """Below the strip: its beginning, its own end, and where the formula ends (or the limit lies) if that is elsewhere
    and to be `marked`."""
    mark = min(columns - 1, round(breakdown.predicted_s / end_s * columns))
    words = f"{breakdown.predicted_s:.3f} {'limit' if breakdown.is_limit else 'formula ends'}"
    last = amount(breakdown.measured_s, "s")
    if not marked or abs(breakdown.predicted_s - breakdown.measured_s) * columns < end_s:  # less than a column
        return f"0{last.rjust(columns - 1)}"
    if mark + len(words) + len(last) + 3 <= columns:
        return f"{'0'.ljust(mark)}^ {words}{last.rjust(columns - mark - 2 - len(words))}"
    left = f"0{words.rjust(mark - 2)} ^"
    return f"{left} {last}" if len(left) + 1 + len(last) <= columns else left


def letters_of(segments: tuple[BreakdownSegment, ...]) -> dict[str | None, str]:
    """One letter a setting, from the word that says what it is about; of settings that share that word, from all of the
    name. Back-offs are dots, and time that waits on no setting is an underscore."""
    settings = dict.fromkeys(segment.setting for segment in segments)
    shared = Counter(subject_word(setting) for setting in settings if setting)
    letters: dict[str | None, str] = {}
    for setting in settings:
        word = subject_word(setting or "").lower()
        name = word if setting is None or shared[subject_word(setting)] == 1 else setting.replace(".", "").lower()
        wanted = "_" if setting is None else BACKING_OFF if "backoff" in word else ""
        candidates = [wanted, *name, *"abcdefghijklmnopqrstuvwxyz"]
        letters[setting] = next(c for c in candidates if c and (c == BACKING_OFF or c not in letters.values()))
    return letters
