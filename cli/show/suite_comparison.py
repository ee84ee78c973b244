"""What `faultlab compare` shows: two suites, a block for each case that differs, and what cannot be compared."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from cli.show.difference_text import case_label, interval, measure_label, sentence, signed
from cli.show.formatting import WIDTH, pluralized
from cli.show.rows import GAP, right_aligned, wrapped
from harness.comparing.cases import SuiteRuns
from harness.comparing.frequencies import FrequencyChange
from harness.comparing.shifts import Shift
from harness.comparing.side_by_side import CaseComparison, SuiteComparison
from harness.records.case_key import CaseKey

MAX_CASES = 20
"""So many cases are shown without `--all`."""


def table(found: SuiteComparison, *, show_all: bool, width: int) -> Iterator[Text]:
    """Everything: what the two are, what differs, what is the same, what is only on one side."""
    yield _side("A", found.first, width)
    yield _side("B", found.second, width)
    for side in (found.first, found.second):
        for line in side.set_aside:
            yield wrapped(f"set aside: {line}", lead="", style="yellow", width=width)
        if side.unfinished:
            yield wrapped(f"{side.source} has not ended: {side.unfinished}", lead="", style="yellow", width=width)
    if found.other_machine:
        yield wrapped("two machines: times differ for that reason too", lead="", style="yellow", width=width)
        yield wrapped(found.first.machine, lead="  A  ", style="dim", width=width)
        yield wrapped(found.second.machine, lead="  B  ", style="dim", width=width)
    if found.settings:
        every = f", in all {len(found.both)} cases" if len(found.both) > 1 else ""
        yield wrapped(f"{', '.join(found.settings)}{every}", lead="settings  ", width=width)
    differing = found.differing
    shown = differing if show_all else differing[:MAX_CASES]
    blocks = [_rows(found, one) for one in shown]
    # No wider than names and figures need: they stand beside one another, not at the two edges of a wide terminal.
    needed = max((2 + cell_len(left) + GAP + len(right) for rows in blocks for left, right in rows), default=0)
    edge = min(max(needed, WIDTH), width)
    if differing:
        yield Text()
        yield Text(right_aligned("", f"{'A':>8}  {'B':>8}  {'B - A':<24}", lead=0, width=edge), style="dim")
    for one, (head, *rows) in zip(shown, blocks, strict=True):
        yield Text(right_aligned(*head, lead=0, width=edge), style="bold")
        for left, right in rows:
            yield Text("  " + right_aligned(left, right, lead=2, width=edge))
        yield from _notes(found, one, width)
    if len(differing) > MAX_CASES and not show_all:
        yield Text(f"and {pluralized(len(differing) - MAX_CASES, 'case')} more (--all)", style="dim")
    yield Text()
    yield from _rest(found, show_all=show_all, width=width)


def _side(word: str, side: SuiteRuns, width: int) -> Text:
    counted = [case.counted for case in side.cases]
    runs = (
        "no runs"
        if not counted
        else f"{min(counted)}"
        if min(counted) == max(counted)
        else (f"{min(counted)}-{max(counted)}")
    )
    environments = ", ".join(sorted({case.key.environment for case in side.cases})) or "empty"
    text = f"{side.source}: {pluralized(len(side.cases), 'case')}, {runs} conclusive runs each, {environments}"
    return wrapped(f"{text}, faultlab {side.faultlab}", lead=f"{word}  ", width=width)


def _rows(found: SuiteComparison, one: CaseComparison) -> list[tuple[str, str]]:
    """What stands at the left and at the right edge: of the case, then of each of its differences."""
    name = case_label(one.first.key, found.first.cases, client=True)
    release = "" if one.first.key == one.second.key else f" / {one.second.key.version}"
    return [
        (f"{name}{release}", f"{one.first.counted} + {one.second.counted} runs"),
        *((measure_label(shift.measure), _figures(shift)) for shift in one.shifts),
        *((sentence(change), _shares(change)) for change in one.changes),
    ]


def _notes(found: SuiteComparison, one: CaseComparison, width: int) -> Iterator[Text]:
    own = [words for words in one.settings if words not in found.settings]
    if own:
        yield wrapped(", ".join(own), lead="  settings  ", style="dim", width=width)
    if one.shifts and all(shift.interval is None for shift in one.shifts):
        yield Text("  too few runs for an interval", style="dim")


def _figures(shift: Shift) -> str:
    digits = 3 if shift.unit == "s" else 0 if (shift.before % 1, shift.now % 1, shift.shift % 1) == (0, 0, 0) else 1
    ends = (shift.before, shift.before_endless), (shift.now, shift.now_endless)
    first, second = (f"{'≥ ' if endless else ''}{value:.{digits}f}" for value, endless in ends)
    moved = f"{signed(shift.shift, shift.unit, digits)} {interval(shift, digits)}".rstrip()
    return f"{first:>8}  {second:>8}  {moved:<24}"


def _shares(change: FrequencyChange) -> str:
    first, second = f"{change.before}/{change.of_before}", f"{change.now}/{change.of_now}"
    return f"{first:>8}  {second:>8}  {'':<24}"


def _rest(found: SuiteComparison, *, show_all: bool, width: int) -> Iterator[Text]:
    same = [one for one in found.both if not one.differs]
    if same:
        yield wrapped(
            f"{pluralized(len(same), 'case')}: no difference of 1 ms or more that chance does not explain",
            lead="unchanged  ",
            width=width,
        )
    for word, cases in (("only in A", found.only_first), ("only in B", found.only_second)):
        if cases:
            yield wrapped(_names([case.key for case in cases], show_all=show_all), lead=f"{word}  ", width=width)
    for first, second in found.silent:
        spoilt = second if second.counted == 0 else first
        text = f"{first.key.scenario}: no conclusive run in {'B' if spoilt is second else 'A'}"
        why = f" ({spoilt.reasons[0]})" if spoilt.reasons else ""
        yield wrapped(f"{text}{why}", lead="inconclusive  ", style="yellow", width=width)
    if not found.both and not found.silent:
        yield Text("the two have no case in common", style="yellow")


def _names(names: Sequence[CaseKey], *, show_all: bool) -> str:
    scenarios = sorted({name.scenario for name in names})
    shown = scenarios if show_all else scenarios[:MAX_CASES]
    more = f" and {len(scenarios) - len(shown)} more (--all)" if len(scenarios) > len(shown) else ""
    return f"{pluralized(len(names), 'case')}: {', '.join(shown)}{more}"
