"""The end of a suite: the table with what needs attention first, and the verdict last."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from cli.exit_codes import ExitCode
from cli.show import groups
from cli.show.cases import CaseRecords, only_subject_ended, verdict_counts, worst_first
from cli.show.claims import claims_summary
from cli.show.formatting import SUBJECT_ERROR, pluralized, seconds
from cli.show.rows import CaseRows, wrapped
from harness.records.run import RunRecord, Verdict

MAX_PASSED_WITH_FAILURES = 6
MAX_PASSED_ALONE = 30
"""So many cases that passed are shown without `--all`: few where something else needs attention."""
MAX_EXPECTATIONS = 30
"""Up to so many expectations of the cases shown have a row each without `--all`."""

MAX_REASONS = 2
"""So many reasons of an inconclusive case are shown: the others mostly follow from them."""

EXIT_HEADLINES = {
    ExitCode.PASSED: ("PASSED", "bold green"),
    ExitCode.FAILED: ("FAILED", "bold red"),
    ExitCode.INCONCLUSIVE: ("INCONCLUSIVE", "bold yellow"),
    ExitCode.LAB_ERROR: ("LAB ERROR", "bold magenta"),
    ExitCode.INTERRUPTED: ("INTERRUPTED", "bold yellow"),
    ExitCode.NOTHING_SELECTED: ("NOTHING", "bold yellow"),
}
VERDICT_COUNT_LABELS: tuple[tuple[Verdict, str], ...] = (
    ("fail", "failed"),
    ("lab_error", "ended by the lab"),
    ("inconclusive", "inconclusive"),
    ("skipped", "skipped"),
    ("pass", "passed"),
)
ENDED_BY_SUBJECT = "ended by the subject"
"""Of the runs that ended early, those in which the lab worked."""


def table(cases: Sequence[CaseRecords], rows: CaseRows, *, show_all: bool) -> Iterator[Text]:
    """The closing table: failures first, then what ended early, then what tested nothing, then what passed."""
    trouble = worst_first(cases)
    passed = [case for case in cases if case.verdict == "pass"]
    limit = len(passed) if show_all else MAX_PASSED_WITH_FAILURES if trouble else MAX_PASSED_ALONE
    shown = (*trouble, *passed[:limit])
    every = show_all or sum(len(case.expectations()) for case in shown) <= MAX_EXPECTATIONS
    yield rows.head
    for case in shown:
        yield from rows.table_rows(case, every=every)
        if case.verdict in ("inconclusive", "skipped"):
            yield from _reasons(case, lead=rows.reasons_lead, width=rows.width)
    if len(passed) > limit:
        yield rows.more(len(passed) - limit)


def verdict(
    runs: Sequence[RunRecord],
    cases: Sequence[CaseRecords],
    *,
    planned: int,
    elapsed_s: float,
    code: ExitCode,
    width: int,
) -> Text:
    """The one line that answers: `FAILED  1 failed, 41 passed of 42 runs; 1 claim refuted as declared   47.1 s`."""
    head, style = headline(code, runs)
    text = sentence(runs, cases, planned=planned)
    took = seconds(elapsed_s)
    line = Text(head, style=style)
    if len(head) + 2 + len(text) + 2 + len(took) <= width:
        return line.append(f"  {text}".ljust(width - len(head) - len(took)) + took, style="default")
    line.append("".ljust(width - len(head) - len(took)) + took + "\n", style="default")
    return line.append_text(wrapped(text, lead="  ", width=width))


def headline(code: ExitCode, runs: Sequence[RunRecord]) -> tuple[str, str]:
    """The verdict in a word or two, and its style: the lab is not blamed for what the subject did."""
    head, style = EXIT_HEADLINES[code]
    return (SUBJECT_ERROR if code is ExitCode.LAB_ERROR and only_subject_ended(runs) else head), style


def count_texts(counted: Mapping[Verdict, int], *, by_subject: int = 0) -> Iterator[tuple[Verdict, str]]:
    """`1 failed`, `41 passed`; `by_subject` of those that ended early are the subject's."""
    for verdict, word in VERDICT_COUNT_LABELS:
        subjects = by_subject if verdict == "lab_error" else 0
        for number, words in ((counted[verdict] - subjects, word), (subjects, ENDED_BY_SUBJECT)):
            if number:
                yield verdict, f"{number} {words}"


def sentence(runs: Sequence[RunRecord], cases: Sequence[CaseRecords], *, planned: int) -> str:
    """`1 failed, 41 passed of 42 runs; claims as declared: 1 refuted`."""
    counted = verdict_counts(runs)
    together = sum(case.passed for case in cases if case.falls_short_together)
    counted["pass"] -= together
    words = [text for _, text in count_texts(counted, by_subject=sum(run.ended_by_subject for run in runs))]
    text = ", ".join([*words, *([f"{together} judged together"] if together else [])])
    more = "".join(f"; {words}" for words in (*_groups_summary(cases), *claims_summary(cases)))
    return f"{text or 'nothing measured'} of {pluralized(planned, 'run')}{more}"


def pointers(lines: Sequence[tuple[str, str]], code: ExitCode, *, width: int) -> Iterator[Text]:
    """`replay  faultlab replay 7f3a` and the like; the exit code stands at the end of the last line."""
    shown = [f"{word:<7} {text}" for word, text in lines] or [""]
    ending = f"exit {int(code)}"
    last = shown[-1]
    fits = len(last) + 2 + len(ending) <= width
    shown[-1] = f"{last.ljust(width - len(ending))}{ending}" if fits else f"{last}\n{ending.rjust(width)}"
    for line in shown:
        yield Text(line)


def _reasons(case: CaseRecords, *, lead: str, width: int) -> Iterator[Text]:
    """The first reasons why nothing was proven; what follows from them is counted."""
    repeated = [r for run in case.runs if run.verdict != "pass" for r in run.reasons]
    repeated += [f"{groups.called(group)}: {group.reason}" for group in case.groups if group.verdict == "inconclusive"]
    reasons = list(dict.fromkeys(repeated))
    for reason in reasons[:MAX_REASONS]:
        yield wrapped(reason, lead=lead, style="dim", width=width)
    if len(reasons) > MAX_REASONS:
        more = pluralized(len(reasons) - MAX_REASONS, "more reason")
        yield wrapped(f"and {more}", lead=lead, style="dim", width=width)


def _groups_summary(cases: Sequence[CaseRecords]) -> Iterator[str]:
    """`over repeats: 1 failed, 2 passed`, where not all passed: no run's own verdict says so."""
    counted = Counter(group.verdict for case in cases for group in case.groups)
    counted.pop("skipped", None)
    if set(counted) - {"pass"}:
        yield f"over repeats: {', '.join(text for _, text in count_texts(counted))}"
