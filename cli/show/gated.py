"""What `faultlab gate` says: the first line proves that it compared something, the last one answers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.text import Text

from cli.exits import Exit
from cli.show.figures import WIDTH, many
from cli.show.rows import folded
from cli.show.shifted import (
    change,
    digits_of,
    figures,
    interval,
    label,
    measure_words,
    named,
    rate,
    signed,
    silent_words,
)
from harness.gating.cases import CaseName
from harness.gating.changes import Change
from harness.gating.comparison import Gated, Silent, too_few
from harness.gating.judging import Compared, Judged
from harness.gating.shifts import LEAST, MOST_RUNS, Shift

T = TypeVar("T")

WORD = 12
"""Columns of the word at the left."""
STYLES = {"REGRESSION": "bold red", "LOST": "bold red", "UNSURE": "yellow", "BETTER": "green", "unchanged": "green"}
HEADS = {
    Exit.PASSED: ("UNCHANGED", "bold green"),
    Exit.REGRESSED: ("REGRESSED", "bold red"),
    Exit.INCONCLUSIVE: ("INCONCLUSIVE", "bold yellow"),
    Exit.NOTHING: ("NOTHING", "bold yellow"),
}
MOST_NAMED = 3
"""So many scenarios are named in a command; for more of them it repeats all."""
ALSO = 3
"""So many further regressions of one case are told without `--all`."""
SHOWN = 12
"""So many cases of a kind are told without `--all`."""


def head(gated: Gated, *, interleaved: bool) -> Iterator[Text]:
    """`compared 43 of 44 scenarios, 20 + 20 runs, same machine`, and what is odd about the two."""
    yield from _proof(gated, interleaved=interleaved)
    for side in (gated.baseline, gated.current):
        for line in side.set_aside:
            yield folded(f"set aside: {line}", lead="", style="yellow")
        if side.unfinished:
            yield folded(f"{side.source} has not ended: {side.unfinished}", lead="", style="yellow")
    if gated.baseline.faultlab != gated.current.faultlab and not gated.other_machine:
        versions = f"the baseline was made by faultlab {gated.baseline.faultlab}, this is {gated.current.faultlab}"
        yield folded(versions, lead="", style="dim")


def _proof(gated: Gated, *, interleaved: bool) -> Iterator[Text]:
    if gated.other_machine:
        yield folded("compared nothing: the baseline is another machine's", lead="")
        yield folded(gated.baseline.machine, lead="  baseline  ")
        yield folded(gated.current.machine, lead="  now       ")
        return
    names = [one.name for one in gated.compared] + [one.name for one in gated.silent]
    names += [case.name for case in gated.lost]
    scenarios = len({name.scenario for name in names})
    of = many(scenarios, "scenario")
    of = of if len(names) == scenarios else f"{len(names)} cases of {of}"
    runs = (
        f"{_runs([c.before.counted for c in gated.compared])} + {_runs([c.now.counted for c in gated.compared])} runs"
    )
    where = "virtual time" if gated.baseline.simulated and gated.current.simulated else "same machine"
    yield Text(f"compared {len(gated.compared)} of {of}, {runs}{' interleaved' if interleaved else ''}, {where}")


def body(gated: Gated, *, everything: bool) -> Iterator[Text]:
    """A block for each case that is not as it was; those that are, counted."""
    if gated.other_machine:
        return
    for one in _some(gated.that("regression"), everything=everything):
        yield from _regression(gated, one, everything=everything)
    yield from _more(gated.that("regression"), everything=everything)
    lost = _lost(gated)
    for name in _some(lost, everything=everything):
        yield _told("LOST", name, "in the baseline, not run now")
    yield from _more(lost, everything=everything)
    for silent in _some(gated.silent, everything=everything):
        yield from _silent(gated, silent)
    yield from _more(gated.silent, everything=everything)
    yield from _unsure(gated, everything=everything)
    for one in _some(gated.that("better"), everything=everything):
        yield _line(gated, "BETTER", one.name, _short(one.judged[0]))
    yield from _more(gated.that("better"), everything=everything)
    yield from _unchanged(gated)
    if gated.new:
        scenarios = ", ".join(sorted({case.name.scenario for case in gated.new}))
        yield folded(f"{len(gated.new)}, not in the baseline: {scenarios}", lead="new".ljust(WORD))


def verdict(gated: Gated, code: Exit, *, warned: bool) -> Text:
    """`REGRESSED   1 slower, 1 lost, 1 unsure`, with the exit code at the right edge."""
    word, style = HEADS[code]
    text = told(gated, warned=warned)
    told_code = f"exit {int(code)}"
    lead = f"{word}  ".ljust(WORD)
    line = Text(lead, style=style)
    if len(lead) + len(text) + 2 + len(told_code) <= WIDTH:
        return line.append(text.ljust(WIDTH - len(lead) - len(told_code)) + told_code, style="default")
    return line.append_text(folded(text, lead="")).append(f"\n{told_code.rjust(WIDTH)}", style="default")


def told(gated: Gated, *, warned: bool) -> str:
    """`1 slower, 1 lost, 1 unsure`, or why there is nothing to count."""
    counted = ", ".join(f"{number} {kind}" for kind, number in _kinds(gated).items())
    if gated.other_machine:
        counted = "times of two machines tell nothing of a client"
    elif not gated.compared and not gated.silent:
        counted = _nothing(gated) if gated.current.cases else "no run has ended"
    return f"{counted or 'nothing got worse'}{' (--inconclusive warn)' if warned else ''}"


def _nothing(gated: Gated) -> str:
    """Why there is no case in common, where one thing explains it: a lab that fell back to virtual time, mostly."""
    was, now = ({case.name.environment for case in side.cases} for side in (gated.baseline, gated.current))
    if was and not was & now:
        return f"the baseline was made in {' and '.join(sorted(was))}, these runs in {' and '.join(sorted(now))}"
    return "the two have no case in common"


def scenarios_of(gated: Gated) -> tuple[str, ...]:
    """The scenarios that somebody will want to run again."""
    wanted = [one.name for said in ("regression", "unsure") for one in gated.that(said)]
    wanted += [one.name for one in gated.silent]
    return tuple(dict.fromkeys(name.scenario for name in wanted))


def _regression(gated: Gated, one: Compared, *, everything: bool) -> Iterator[Text]:
    first, *others = one.all_of("regression")
    others = [other for other in others if not _explains(other, first)]
    lead = " " * WORD
    if isinstance(first.of, Shift):
        yield _line(gated, "REGRESSION", one.name, measure_words(first.of.measure), client=True)
        yield _below(figures(first.of), rate(first), f"floor {_floor(first.of)}")
    else:
        yield _line(gated, "REGRESSION", one.name, "", client=True)
        yield _below(change(first.of), rate(first))
    for other in others if everything else others[:ALSO]:
        yield folded(f"also: {_short(other, words=True)}", lead=lead)
    if len(others) > ALSO and not everything:
        yield folded(f"and {len(others) - ALSO} more (--all)", lead=lead)
    if one.where:
        yield folded(f"where: {', '.join(one.where)}", lead=lead)


def _explains(count: Judged, time: Judged) -> bool:
    """Whether it is a count that `where:` tells of anyhow."""
    return isinstance(count.of, Shift) and count.of.unit == "count" and isinstance(time.of, Shift)


def _below(*parts: str) -> Text:
    """Figures below a case's name, two spaces between them."""
    text = "  ".join(part for part in parts if part)
    return Text(" " * WORD + text) if WORD + len(text) <= WIDTH else folded(text, lead=" " * WORD)


def _lost(gated: Gated) -> list[str]:
    """What is not run now, by case; a scenario of which nothing is run has one line."""
    kept = {case.name.scenario for case in gated.current.cases}
    gone = Counter(case.name.scenario for case in gated.lost if case.name.scenario not in kept)
    whole = [f"{name}  {number} cases" if number > 1 else name for name, number in gone.items()]
    cases = gated.current.cases + gated.baseline.cases
    parts = [named(case.name, cases, client=False) for case in gated.lost if case.name.scenario in kept]
    return whole + parts


def _unsure(gated: Gated, *, everything: bool) -> Iterator[Text]:
    unsure = gated.that("unsure")
    few = [one for one in unsure if too_few(one)]
    for one in _some([one for one in unsure if not too_few(one)], everything=everything):
        first = one.judged[0]
        needs = f"needs {first.needed or f'more than {MOST_RUNS}'} runs a side"
        untold = isinstance(first.of, Change) and first.needed is None
        yield _line(gated, "UNSURE", one.name, _short(first) + ("" if untold else f"  {needs}"))
    yield from _more([one for one in unsure if not too_few(one)], everything=everything)
    if few:
        needs = f"needs {_least_needed(few)} runs a side"
        runs = f"{_runs([c.before.counted for c in few])} + {_runs([c.now.counted for c in few])} conclusive runs"
        name = named(few[0].name, gated.current.cases, client=False) if len(few) == 1 else f"{len(few)} cases"
        yield _told("UNSURE", name, f"only {runs}  {needs}")


def _least_needed(few: Sequence[Compared]) -> int:
    """So many runs a side it takes until anything could be told of all of these."""
    return max(
        (one.needed or LEAST for case in few for one in case.judged if isinstance(one.of, Shift) and not one.of.enough),
        default=LEAST,
    )


def _unchanged(gated: Gated) -> Iterator[Text]:
    same = gated.that("unchanged")
    if not same:
        return
    shifts = [one.of for case in same for one in case.judged if isinstance(one.of, Shift) and one.of.unit == "s"]
    largest = max(shifts, key=lambda shift: abs(shift.shift), default=None)
    told = f"{len(same)}" + (f", largest {signed(largest.shift, 's', 2)} s" if largest else "")
    wide = [
        (case, one.of)
        for case in same
        for one in case.judged
        if isinstance(one.of, Shift) and one.of.unit == "s" and one.of.perhaps_above
    ]
    if wide:
        case, shift = max(wide, key=lambda pair: pair[1].interval.high if pair[1].interval else 0.0)
        told += f"; {len({c.name for c, _ in wide})} known only to {interval(shift)} s ({case.name.scenario})"
    yield folded(told, lead="unchanged".ljust(WORD), style="green")


def _silent(gated: Gated, silent: Silent) -> Iterator[Text]:
    spoilt = silent.spoilt
    yield _line(gated, "UNSURE", silent.name, silent_words(silent))
    for reason in spoilt.reasons[:1]:
        yield folded(reason, lead=" " * WORD, style="dim")


def _line(gated: Gated, word: str, name: CaseName, text: str, *, client: bool = False) -> Text:
    told = named(name, gated.current.cases + gated.baseline.cases, client=client)
    return _told(word, told, text)


def _told(word: str, name: str, text: str) -> Text:
    """`LOST        sarama-breaker-open  in the baseline, not run now`; what does not fit goes below."""
    line = Text(word.ljust(WORD), style=STYLES[word])
    together = f"{name}  {text}".rstrip()
    if WORD + len(together) <= WIDTH:
        return line.append(together, style="default")
    line.append(folded(name, lead=" " * WORD).plain.lstrip(), style="default")
    return line.append("\n").append_text(folded(text, lead=" " * WORD)) if text else line


def _short(one: Judged, *, words: bool = False) -> str:
    """`+0.31 s [-0.10 +0.72]`; `words`: also of the measure that a reader expects."""
    if isinstance(one.of, Change):
        return change(one.of)
    measure = measure_words(one.of.measure)
    lead = f"{measure} " if words or measure not in ("time to error", "time to ack") else ""
    unit = " s" if one.of.unit == "s" else ""
    return f"{lead}{signed(one.of.shift, one.of.unit, digits_of(one.of))}{unit} {interval(one.of)}".rstrip()


def _floor(shift: Shift) -> str:
    return f"{shift.floor:.2f}" if shift.unit == "s" else f"{shift.floor:g}"


def _kinds(gated: Gated) -> dict[str, int]:
    """What there is, by its word, in the order of gravity."""
    counted = Counter(label(one.judged[0]) for one in gated.that("regression"))
    counted["lost"] = len(gated.lost)
    counted["unsure"] = len(gated.that("unsure")) + len(gated.silent)
    counted["better"] = len(gated.that("better"))
    counted["unchanged"] = 0 if gated.regressed or gated.inconclusive else len(gated.that("unchanged"))
    return {word: number for word, number in counted.items() if number}


def _runs(counted: Sequence[int]) -> str:
    """`20`, or `18-20`."""
    if not counted:
        return "0"
    return f"{min(counted)}" if min(counted) == max(counted) else f"{min(counted)}-{max(counted)}"


def _some(cases: Sequence[T], *, everything: bool) -> Sequence[T]:
    return cases if everything else cases[:SHOWN]


def _more(cases: Sequence[object], *, everything: bool) -> Iterator[Text]:
    if len(cases) > SHOWN and not everything:
        yield folded(f"and {len(cases) - SHOWN} more like these (--all)", lead=" " * WORD, style="dim")
