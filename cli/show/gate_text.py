"""What `faultlab gate` says: the first line proves that it compared something, the last one answers."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from cli.exit_codes import ExitCode
from cli.show.difference_text import case_label, interval, label, short_figures, signed, silent_reason
from cli.show.formatting import WIDTH, pluralized
from cli.show.gate_regressions import regressions
from cli.show.gate_rows import WORD, GateRows
from cli.show.rows import wrapped
from harness.comparing.frequencies import FrequencyChange
from harness.comparing.shifts import MAX_RUNS, MIN_RUNS, Shift
from harness.gating.assessment import ComparedCase
from harness.gating.gate import GateResult, InconclusiveCase, too_few
from harness.records.case_key import CaseKey

EXIT_HEADLINES = {
    ExitCode.PASSED: ("UNCHANGED", "bold green"),
    ExitCode.REGRESSED: ("REGRESSED", "bold red"),
    ExitCode.INCONCLUSIVE: ("INCONCLUSIVE", "bold yellow"),
    ExitCode.NOTHING_SELECTED: ("NOTHING", "bold yellow"),
}
MAX_NAMED_SCENARIOS = 3
"""So many scenarios are named in a command; for more of them it repeats all."""
MAX_CASES = 12
"""So many cases of a kind are shown without `--all`."""


def head(gated: GateResult, *, interleaved: bool, width: int) -> Iterator[Text]:
    """`compared 43 of 44 scenarios, 20 + 20 runs, same machine`, and what is odd about the two."""
    yield from _comparison_scope(gated, interleaved=interleaved, width=width)
    for side in (gated.baseline, gated.current):
        for line in side.set_aside:
            yield wrapped(f"set aside: {line}", lead="", style="yellow", width=width)
        if side.unfinished:
            yield wrapped(f"{side.source} has not ended: {side.unfinished}", lead="", style="yellow", width=width)
    if gated.baseline.faultlab != gated.current.faultlab and not gated.other_machine:
        versions = f"the baseline was made by faultlab {gated.baseline.faultlab}, this is {gated.current.faultlab}"
        yield wrapped(versions, lead="", style="dim", width=width)


def _comparison_scope(gated: GateResult, *, interleaved: bool, width: int) -> Iterator[Text]:
    if gated.other_machine:
        yield wrapped("compared nothing: the baseline is another machine's", lead="", width=width)
        yield wrapped(gated.baseline.machine, lead="  baseline  ", width=width)
        yield wrapped(gated.current.machine, lead="  now       ", width=width)
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


def body(gated: GateResult, *, show_all: bool, width: int) -> Iterator[Text]:
    """A block for each cause of a regression, a line for each other case that changed; the others are counted."""
    if gated.other_machine:
        return
    rows = GateRows(width, show_all)
    yield from regressions(gated, rows)
    lost = _lost(gated)
    for name in rows.limited(lost, MAX_CASES):
        yield rows.labelled("LOST", name, "in the baseline, not run now")
    yield from rows.omitted_note(lost, MAX_CASES)
    for silent in rows.limited(gated.silent, MAX_CASES):
        yield from _silent(gated, silent, rows)
    yield from rows.omitted_note(gated.silent, MAX_CASES)
    yield from _unsure(gated, rows)
    yield from _uncertain("NOTED", gated, gated.cases_assessed("noted"), rows)
    better = gated.cases_assessed("better")
    for one in rows.limited(better, MAX_CASES):
        yield rows.labelled("BETTER", _name(gated, one.key), short_figures(one.assessed[0]))
    yield from rows.omitted_note(better, MAX_CASES)
    yield from _unchanged(gated, rows)
    if gated.new:
        scenarios = ", ".join(sorted({case.key.scenario for case in gated.new}))
        yield rows.wrapped(f"{len(gated.new)}, not in the baseline: {scenarios}", lead="new".ljust(WORD))


def verdict(gated: GateResult, code: ExitCode, *, warned: bool, width: int) -> Text:
    """`REGRESSED   1 slower, 1 lost, 1 unsure`, with the exit code at the right edge."""
    word, style = EXIT_HEADLINES[code]
    text = closing_text(gated, warned=warned)
    ending = f"exit {int(code)}"
    lead = f"{word}  ".ljust(WORD)
    line = Text(lead, style=style)
    needed = len(lead) + len(text) + 2 + len(ending)
    edge = min(max(needed, WIDTH), width)
    if needed <= edge:
        return line.append(text.ljust(edge - len(lead) - len(ending)) + ending, style="default")
    return line.append_text(wrapped(text, lead="", width=width)).append(f"\n{ending.rjust(edge)}", style="default")


def closing_text(gated: GateResult, *, warned: bool) -> str:
    """`1 slower, 1 lost, 1 unsure`, or why there is nothing to count."""
    counted = ", ".join(f"{number} {kind}" for kind, number in _status_counts(gated).items())
    if gated.other_machine:
        counted = "times of two machines say nothing about a client"
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


def _lost(gated: GateResult) -> list[str]:
    """What is not run now, by case; a scenario of which nothing is run has one line."""
    kept = {case.key.scenario for case in gated.current.cases}
    gone = Counter(case.key.scenario for case in gated.lost if case.key.scenario not in kept)
    whole = [f"{name}  {number} cases" if number > 1 else name for name, number in gone.items()]
    cases = gated.current.cases + gated.baseline.cases
    parts = [case_label(case.key, cases, client=False) for case in gated.lost if case.key.scenario in kept]
    return whole + parts


def _unsure(gated: GateResult, rows: GateRows) -> Iterator[Text]:
    unsure = gated.cases_assessed("unsure")
    few = [one for one in unsure if too_few(one)]
    yield from _uncertain("UNSURE", gated, [one for one in unsure if not too_few(one)], rows)
    if few:
        needs = f"needs {_runs_needed(few)} runs a side"
        runs = f"{_runs([c.before.counted for c in few])} + {_runs([c.now.counted for c in few])} conclusive runs"
        name = _name(gated, few[0].key) if len(few) == 1 else f"{len(few)} cases"
        yield rows.labelled("UNSURE", name, f"only {runs}  {needs}")


def _uncertain(word: str, gated: GateResult, cases: Sequence[ComparedCase], rows: GateRows) -> Iterator[Text]:
    """Cases of which it takes more runs to be certain."""
    for one in rows.limited(cases, MAX_CASES):
        first = one.assessed[0]
        needs = f"  needs {first.runs_needed or f'more than {MAX_RUNS}'} runs a side"
        unknown = isinstance(first.of, FrequencyChange) and first.runs_needed is None
        yield rows.labelled(word, _name(gated, one.key), short_figures(first) + ("" if unknown else needs))
    yield from rows.omitted_note(cases, MAX_CASES)


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


def _unchanged(gated: GateResult, rows: GateRows) -> Iterator[Text]:
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
    yield rows.wrapped(text, lead="unchanged".ljust(WORD), style="green")


def _silent(gated: GateResult, silent: InconclusiveCase, rows: GateRows) -> Iterator[Text]:
    yield rows.labelled("UNSURE", _name(gated, silent.key), silent_reason(silent))
    for reason in silent.spoilt.reasons[:1]:
        yield rows.wrapped(reason, lead=" " * WORD, style="dim")


def _name(gated: GateResult, key: CaseKey) -> str:
    return case_label(key, gated.current.cases + gated.baseline.cases, client=False)


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
