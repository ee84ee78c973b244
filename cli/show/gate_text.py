"""What `faultlab gate` says: the first line proves that it compared something, the last one answers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

from rich.text import Text

from cli.exit_codes import ExitCode
from cli.show.difference_text import (
    case_label,
    change,
    digits_of,
    figures,
    interval,
    label,
    measure_label,
    q_value,
    signed,
    silent_reason,
)
from cli.show.formatting import WIDTH, pluralized
from cli.show.rows import wrapped
from harness.comparing.frequencies import FrequencyChange
from harness.comparing.shifts import MAX_RUNS, MIN_RUNS, Shift
from harness.gating.assessment import AssessedDifference, ComparedCase
from harness.gating.gate import GateResult, InconclusiveCase, too_few
from harness.records.case_key import CaseKey

T = TypeVar("T")

WORD = 12
"""Columns of the word at the left."""
STYLES = {
    "REGRESSION": "bold red", "LOST": "bold red", "UNSURE": "yellow", "NOTED": "cyan", "BETTER": "green",
    "unchanged": "green",
}  # fmt: skip
EXIT_HEADLINES = {
    ExitCode.PASSED: ("UNCHANGED", "bold green"),
    ExitCode.REGRESSED: ("REGRESSED", "bold red"),
    ExitCode.INCONCLUSIVE: ("INCONCLUSIVE", "bold yellow"),
    ExitCode.NOTHING_SELECTED: ("NOTHING", "bold yellow"),
}
MAX_NAMED_SCENARIOS = 3
"""So many scenarios are named in a command; for more of them it repeats all."""
MAX_FURTHER_REGRESSIONS = 3
"""So many further regressions of one case are shown without `--all`."""
MAX_CASES = 12
"""So many cases of a kind are shown without `--all`."""


def head(gated: GateResult, *, interleaved: bool) -> Iterator[Text]:
    """`compared 43 of 44 scenarios, 20 + 20 runs, same machine`, and what is odd about the two."""
    yield from _comparison_scope(gated, interleaved=interleaved)
    for side in (gated.baseline, gated.current):
        for line in side.set_aside:
            yield wrapped(f"set aside: {line}", lead="", style="yellow")
        if side.unfinished:
            yield wrapped(f"{side.source} has not ended: {side.unfinished}", lead="", style="yellow")
    if gated.baseline.faultlab != gated.current.faultlab and not gated.other_machine:
        versions = f"the baseline was made by faultlab {gated.baseline.faultlab}, this is {gated.current.faultlab}"
        yield wrapped(versions, lead="", style="dim")


def _comparison_scope(gated: GateResult, *, interleaved: bool) -> Iterator[Text]:
    if gated.other_machine:
        yield wrapped("compared nothing: the baseline is another machine's", lead="")
        yield wrapped(gated.baseline.machine, lead="  baseline  ")
        yield wrapped(gated.current.machine, lead="  now       ")
        return
    names = [one.key for one in gated.compared] + [one.key for one in gated.silent]
    names += [case.key for case in gated.lost]
    scenarios = len({name.scenario for name in names})
    of = pluralized(scenarios, "scenario")
    of = of if len(names) == scenarios else f"{len(names)} cases of {of}"
    runs = (
        f"{_runs([c.before.counted for c in gated.compared])} + {_runs([c.now.counted for c in gated.compared])} runs"
    )
    where = "virtual time" if gated.baseline.simulated and gated.current.simulated else "same machine"
    yield Text(f"compared {len(gated.compared)} of {of}, {runs}{' interleaved' if interleaved else ''}, {where}")


def body(gated: GateResult, *, show_all: bool) -> Iterator[Text]:
    """A block for each case that changed; the others are counted."""
    if gated.other_machine:
        return
    for one in _limited(gated.cases_assessed("regression"), show_all=show_all):
        yield from _regression(gated, one, show_all=show_all)
    yield from _omitted_note(gated.cases_assessed("regression"), show_all=show_all)
    lost = _lost(gated)
    for name in _limited(lost, show_all=show_all):
        yield _labelled_line("LOST", name, "in the baseline, not run now")
    yield from _omitted_note(lost, show_all=show_all)
    for silent in _limited(gated.silent, show_all=show_all):
        yield from _silent(gated, silent)
    yield from _omitted_note(gated.silent, show_all=show_all)
    yield from _unsure(gated, show_all=show_all)
    yield from _uncertain("NOTED", gated, gated.cases_assessed("noted"), show_all=show_all)
    for one in _limited(gated.cases_assessed("better"), show_all=show_all):
        yield _line(gated, "BETTER", one.key, _short(one.assessed[0]))
    yield from _omitted_note(gated.cases_assessed("better"), show_all=show_all)
    yield from _unchanged(gated)
    if gated.new:
        scenarios = ", ".join(sorted({case.key.scenario for case in gated.new}))
        yield wrapped(f"{len(gated.new)}, not in the baseline: {scenarios}", lead="new".ljust(WORD))


def verdict(gated: GateResult, code: ExitCode, *, warned: bool) -> Text:
    """`REGRESSED   1 slower, 1 lost, 1 unsure`, with the exit code at the right edge."""
    word, style = EXIT_HEADLINES[code]
    text = closing_text(gated, warned=warned)
    ending = f"exit {int(code)}"
    lead = f"{word}  ".ljust(WORD)
    line = Text(lead, style=style)
    if len(lead) + len(text) + 2 + len(ending) <= WIDTH:
        return line.append(text.ljust(WIDTH - len(lead) - len(ending)) + ending, style="default")
    return line.append_text(wrapped(text, lead="")).append(f"\n{ending.rjust(WIDTH)}", style="default")


def closing_text(gated: GateResult, *, warned: bool) -> str:
    """`1 slower, 1 lost, 1 unsure`, or why there is nothing to count."""
    counted = ", ".join(f"{number} {kind}" for kind, number in _status_counts(gated).items())
    if gated.other_machine:
        counted = "times of two machines tell nothing of a client"
    elif not gated.compared and not gated.silent:
        counted = _why_nothing_in_common(gated) if gated.current.cases else "no run has ended"
    return f"{counted or 'nothing got worse'}{' (--inconclusive warn)' if warned else ''}"


def _why_nothing_in_common(gated: GateResult) -> str:
    """Why there is no case in common, where one thing explains it: a lab that fell back to virtual time, mostly."""
    was, now = ({case.key.environment for case in side.cases} for side in (gated.baseline, gated.current))
    if was and not was & now:
        return f"the baseline was made in {' and '.join(sorted(was))}, these runs in {' and '.join(sorted(now))}"
    return "the two have no case in common"


def scenarios_to_rerun(gated: GateResult) -> tuple[str, ...]:
    """The scenarios worth running again."""
    wanted = [one.key for assessment in ("regression", "unsure") for one in gated.cases_assessed(assessment)]
    wanted += [one.key for one in gated.silent]
    return tuple(dict.fromkeys(name.scenario for name in wanted))


def _regression(gated: GateResult, one: ComparedCase, *, show_all: bool) -> Iterator[Text]:
    first, *others = one.differences_assessed("regression")
    others = [other for other in others if not _is_explained_by(other, first)]
    lead = " " * WORD
    if isinstance(first.of, Shift):
        yield _line(gated, "REGRESSION", one.key, measure_label(first.of.measure), client=True)
        yield _indented(figures(first.of), q_value(first), f"floor {_floor(first.of)}")
    else:
        yield _line(gated, "REGRESSION", one.key, "", client=True)
        yield _indented(change(first.of), q_value(first))
    for other in others if show_all else others[:MAX_FURTHER_REGRESSIONS]:
        yield wrapped(f"also: {_short(other, words=True)}", lead=lead)
    if len(others) > MAX_FURTHER_REGRESSIONS and not show_all:
        yield wrapped(f"and {len(others) - MAX_FURTHER_REGRESSIONS} more (--all)", lead=lead)
    if one.where:
        yield wrapped(f"where: {', '.join(one.where)}", lead=lead)


def _is_explained_by(count: AssessedDifference, time: AssessedDifference) -> bool:
    """Whether it is a count that `where:` tells of anyhow."""
    return isinstance(count.of, Shift) and count.of.unit == "count" and isinstance(time.of, Shift)


def _indented(*parts: str) -> Text:
    """Figures below a case's name, two spaces between them."""
    text = "  ".join(part for part in parts if part)
    return Text(" " * WORD + text) if WORD + len(text) <= WIDTH else wrapped(text, lead=" " * WORD)


def _lost(gated: GateResult) -> list[str]:
    """What is not run now, by case; a scenario of which nothing is run has one line."""
    kept = {case.key.scenario for case in gated.current.cases}
    gone = Counter(case.key.scenario for case in gated.lost if case.key.scenario not in kept)
    whole = [f"{name}  {number} cases" if number > 1 else name for name, number in gone.items()]
    cases = gated.current.cases + gated.baseline.cases
    parts = [case_label(case.key, cases, client=False) for case in gated.lost if case.key.scenario in kept]
    return whole + parts


def _unsure(gated: GateResult, *, show_all: bool) -> Iterator[Text]:
    unsure = gated.cases_assessed("unsure")
    few = [one for one in unsure if too_few(one)]
    yield from _uncertain("UNSURE", gated, [one for one in unsure if not too_few(one)], show_all=show_all)
    if few:
        needs = f"needs {_runs_needed(few)} runs a side"
        runs = f"{_runs([c.before.counted for c in few])} + {_runs([c.now.counted for c in few])} conclusive runs"
        name = case_label(few[0].key, gated.current.cases, client=False) if len(few) == 1 else f"{len(few)} cases"
        yield _labelled_line("UNSURE", name, f"only {runs}  {needs}")


def _uncertain(word: str, gated: GateResult, cases: Sequence[ComparedCase], *, show_all: bool) -> Iterator[Text]:
    """Cases of which it takes more runs to be certain."""
    for one in _limited(cases, show_all=show_all):
        first = one.assessed[0]
        needs = f"needs {first.runs_needed or f'more than {MAX_RUNS}'} runs a side"
        untold = isinstance(first.of, FrequencyChange) and first.runs_needed is None
        yield _line(gated, word, one.key, _short(first) + ("" if untold else f"  {needs}"))
    yield from _omitted_note(cases, show_all=show_all)


def _runs_needed(few: Sequence[ComparedCase]) -> int:
    """The runs a side at which each of these cases could be decided."""
    return max(
        (
            one.runs_needed or MIN_RUNS
            for case in few
            for one in case.assessed
            if isinstance(one.of, Shift) and not one.of.enough_runs
        ),
        default=MIN_RUNS,
    )


def _unchanged(gated: GateResult) -> Iterator[Text]:
    same = gated.cases_assessed("unchanged")
    if not same:
        return
    shifts = [one.of for case in same for one in case.assessed if isinstance(one.of, Shift) and one.of.unit == "s"]
    largest = max(shifts, key=lambda shift: abs(shift.shift), default=None)
    text = f"{len(same)}" + (f", largest {signed(largest.shift, 's', 2)} s" if largest else "")
    wide = [
        (case, one.of)
        for case in same
        for one in case.assessed
        if isinstance(one.of, Shift) and one.of.unit == "s" and one.of.possibly_above_floor
    ]
    if wide:
        case, shift = max(wide, key=lambda pair: pair[1].interval.high if pair[1].interval else 0.0)
        text += f"; {len({c.key for c, _ in wide})} known only to {interval(shift)} s ({case.key.scenario})"
    yield wrapped(text, lead="unchanged".ljust(WORD), style="green")


def _silent(gated: GateResult, silent: InconclusiveCase) -> Iterator[Text]:
    spoilt = silent.spoilt
    yield _line(gated, "UNSURE", silent.key, silent_reason(silent))
    for reason in spoilt.reasons[:1]:
        yield wrapped(reason, lead=" " * WORD, style="dim")


def _line(gated: GateResult, word: str, name: CaseKey, text: str, *, client: bool = False) -> Text:
    name_text = case_label(name, gated.current.cases + gated.baseline.cases, client=client)
    return _labelled_line(word, name_text, text)


def _labelled_line(word: str, name: str, text: str) -> Text:
    """`LOST        sarama-breaker-open  in the baseline, not run now`; what does not fit goes below."""
    line = Text(word.ljust(WORD), style=STYLES[word])
    together = f"{name}  {text}".rstrip()
    if WORD + len(together) <= WIDTH:
        return line.append(together, style="default")
    line.append(wrapped(name, lead=" " * WORD).plain.lstrip(), style="default")
    return line.append("\n").append_text(wrapped(text, lead=" " * WORD)) if text else line


def _short(one: AssessedDifference, *, words: bool = False) -> str:
    """`+0.31 s [-0.10 +0.72]`; `words`: also of the measure that a reader expects."""
    if isinstance(one.of, FrequencyChange):
        return change(one.of)
    measure = measure_label(one.of.measure)
    lead = f"{measure} " if words or measure not in ("time to error", "time to ack") else ""
    unit = " s" if one.of.unit == "s" else ""
    return f"{lead}{signed(one.of.shift, one.of.unit, digits_of(one.of))}{unit} {interval(one.of)}".rstrip()


def _floor(shift: Shift) -> str:
    return f"{shift.floor:.2f}" if shift.unit == "s" else f"{shift.floor:g}"


def _status_counts(gated: GateResult) -> dict[str, int]:
    """What there is, by its word, in the order of gravity."""
    counted = Counter(label(one.assessed[0]) for one in gated.cases_assessed("regression"))
    counted["lost"] = len(gated.lost)
    counted["unsure"] = len(gated.cases_assessed("unsure")) + len(gated.silent)
    counted["noted"] = len(gated.cases_assessed("noted"))
    counted["better"] = len(gated.cases_assessed("better"))
    counted["unchanged"] = 0 if gated.regressed or gated.inconclusive else len(gated.cases_assessed("unchanged"))
    return {word: number for word, number in counted.items() if number}


def _runs(counted: Sequence[int]) -> str:
    """`20`, or `18-20`."""
    if not counted:
        return "0"
    return f"{min(counted)}" if min(counted) == max(counted) else f"{min(counted)}-{max(counted)}"


def _limited(cases: Sequence[T], *, show_all: bool) -> Sequence[T]:
    return cases if show_all else cases[:MAX_CASES]


def _omitted_note(cases: Sequence[object], *, show_all: bool) -> Iterator[Text]:
    if len(cases) > MAX_CASES and not show_all:
        yield wrapped(f"and {len(cases) - MAX_CASES} more like these (--all)", lead=" " * WORD, style="dim")
