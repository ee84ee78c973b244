"""What `faultlab compare` shows: two suites, a block for each case that differs, and what cannot be compared."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from cli.show.figures import many
from cli.show.rows import beside, folded
from cli.show.shifted import interval, measure_words, named, sentence, signed
from harness.gating.cases import CaseName, Side
from harness.gating.changes import Change
from harness.gating.shifts import Shift
from harness.gating.side_by_side import Beside, SideBySide

SHOWN = 20
"""So many cases are shown without `--all`."""


def table(found: SideBySide, *, everything: bool) -> Iterator[Text]:
    """Everything: what the two are, what differs, what is the same, what is only on one side."""
    yield _side("A", found.first)
    yield _side("B", found.second)
    for side in (found.first, found.second):
        for line in side.set_aside:
            yield folded(f"set aside: {line}", lead="", style="yellow")
        if side.unfinished:
            yield folded(f"{side.source} has not ended: {side.unfinished}", lead="", style="yellow")
    if found.other_machine:
        yield folded("two machines: times differ for that reason too", lead="", style="yellow")
        yield folded(found.first.machine, lead="  A  ", style="dim")
        yield folded(found.second.machine, lead="  B  ", style="dim")
    differing = found.differing
    if differing:
        yield Text()
        yield Text(beside("", f"{'A':>8}  {'B':>8}  {'B - A':<24}", lead=0), style="dim")
    for one in differing if everything else differing[:SHOWN]:
        yield from _block(found, one)
    if len(differing) > SHOWN and not everything:
        yield Text(f"and {many(len(differing) - SHOWN, 'case')} more (--all)", style="dim")
    yield Text()
    yield from _rest(found, everything=everything)


def _side(word: str, side: Side) -> Text:
    counted = [case.counted for case in side.cases]
    runs = (
        "no runs"
        if not counted
        else f"{min(counted)}"
        if min(counted) == max(counted)
        else (f"{min(counted)}-{max(counted)}")
    )
    environments = ", ".join(sorted({case.name.environment for case in side.cases})) or "empty"
    told = f"{side.source}   {many(len(side.cases), 'case')}, {runs} conclusive runs each, {environments}"
    return folded(f"{told}, faultlab {side.faultlab}", lead=f"{word}  ")


def _block(found: SideBySide, one: Beside) -> Iterator[Text]:
    name = named(one.first.name, found.first.cases, client=True)
    release = "" if one.first.name == one.second.name else f" / {one.second.name.version}"
    runs = f"{one.first.counted} + {one.second.counted} runs"
    yield Text(beside(f"{name}{release}", runs, lead=0), style="bold")
    for shift in one.shifts:
        yield Text("  " + beside(measure_words(shift.measure), _figures(shift), lead=2))
    for change in one.changes:
        yield Text("  " + beside(sentence(change), _shares(change), lead=2))
    for words in one.settings:
        yield folded(words, lead="  setting ", style="dim")
    if one.shifts and all(shift.interval is None for shift in one.shifts):
        yield Text("  too few runs for an interval", style="dim")


def _figures(shift: Shift) -> str:
    digits = 3 if shift.unit == "s" else 0 if (shift.before % 1, shift.now % 1, shift.shift % 1) == (0, 0, 0) else 1
    ends = (shift.before, shift.before_endless), (shift.now, shift.now_endless)
    first, second = (f"{'≥ ' if endless else ''}{value:.{digits}f}" for value, endless in ends)
    moved = f"{signed(shift.shift, shift.unit, digits)} {interval(shift, digits)}".rstrip()
    return f"{first:>8}  {second:>8}  {moved:<24}"


def _shares(change: Change) -> str:
    first, second = f"{change.before}/{change.of_before}", f"{change.now}/{change.of_now}"
    return f"{first:>8}  {second:>8}  {'':<24}"


def _rest(found: SideBySide, *, everything: bool) -> Iterator[Text]:
    same = [one for one in found.both if not one.differs]
    if same:
        yield Text(f"same      {many(len(same), 'case')}: nothing differs for sure by a millisecond or more")
    for word, cases in (("only in A", found.only_first), ("only in B", found.only_second)):
        if cases:
            yield folded(_names([case.name for case in cases], everything=everything), lead=f"{word} ")
    for first, second in found.silent:
        spoilt = second if second.counted == 0 else first
        told = f"{first.name.scenario}: no conclusive run in {'B' if spoilt is second else 'A'}"
        why = f" ({spoilt.reasons[0]})" if spoilt.reasons else ""
        yield folded(f"{told}{why}", lead="untold    ", style="yellow")
    if not found.both and not found.silent:
        yield Text("the two have no case in common", style="yellow")


def _names(names: Sequence[CaseName], *, everything: bool) -> str:
    scenarios = sorted({name.scenario for name in names})
    shown = scenarios if everything else scenarios[:SHOWN]
    more = f" and {len(scenarios) - len(shown)} more (--all)" if len(scenarios) > len(shown) else ""
    return f"{many(len(names), 'case')}: {', '.join(shown)}{more}"
