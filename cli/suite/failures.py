"""The failures of a suite in detail: cases that violate the same expectations make one block, led by the worst."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rich.text import Text

from cli.show import groups
from cli.show.cases import CaseRecords, ExpectationSummary, worst_first
from cli.show.failure import error_block, failure, group_failure, other_cases
from cli.show.formatting import WIDTH
from cli.suite.finished import FinishedSuite, replay_command, replay_of, replay_of_case
from harness.judging import Breakdown, break_down_time
from harness.records.event import EventRecord
from harness.records.reader import QuarantinedLine, Results, read_events
from harness.records.run import RunRecord
from harness.suite.restoring import find_expectation, restore_story

WRONG = ("fail", "lab_error")


@dataclass(frozen=True, slots=True)
class SharedFailure:
    """Cases that violate the same expectations, or that ended early for the same reasons; the worst first."""

    cases: tuple[CaseRecords, ...]

    @property
    def worst_run(self) -> RunRecord:
        return self.cases[0].most_severe

    def lines(
        self, events: list[EventRecord], finished: FinishedSuite, *, show_all: bool, width: int
    ) -> Iterator[Text]:
        """The worst case in full, with the `events` of its worst run, and a line for each other."""
        worst, *others = self.cases
        for number, block in enumerate(blocks(worst, events, finished, width=width)):
            if number:
                yield Text()
            yield from block
        replays = [replay_of_case(case, finished) for case in others]
        yield from other_cases(worst, others, replays, show_all=show_all, width=width)


def shared_failures(cases: Sequence[CaseRecords]) -> tuple[SharedFailure, ...]:
    """What failed, then what ended early; the farthest off first."""
    together: dict[tuple[object, ...], list[CaseRecords]] = {}
    wrong = [case for case in worst_first(cases) if case.verdict in WRONG]
    for case in sorted(wrong, key=lambda case: (case.verdict != "fail", *case.severity)):
        together.setdefault((case.verdict, *_violated(case)), []).append(case)
    return tuple(SharedFailure(tuple(alike)) for alike in together.values())


def _violated(case: CaseRecords) -> frozenset[object]:
    """What is wrong with a case: places in scenarios; the reasons where no expectation is violated."""
    single = {(case.first.path, one.judged.line, one.judged.measure) for one in _failed(case)}
    shared = {(group.path, group.line, groups.called(group)) for group in case.groups if group.verdict == "fail"}
    return frozenset(single | shared) or frozenset(case.most_severe.reasons)


def _failed(case: CaseRecords) -> list[ExpectationSummary]:
    return [one for one in case.expectations() if one.judged.fails_run] if case.verdict == "fail" else []


def events_by_run(results: Results, runs: Sequence[RunRecord]) -> dict[str, list[EventRecord]]:
    """The events of these tries, by run id."""
    attempts = {run.run_id: run.attempt for run in runs}
    events: dict[str, list[EventRecord]] = {}
    if attempts:
        quarantined: list[QuarantinedLine] = []
        mine = (e for e in read_events(results, quarantined) if attempts.get(e.run_id) == e.attempt)
        for run_id, group in groupby(mine, key=lambda event: event.run_id):
            events.setdefault(run_id, []).extend(group)
    return events


def blocks(
    case: CaseRecords, events: list[EventRecord], finished: FinishedSuite, *, width: int = WIDTH
) -> Iterator[Iterator[Text]]:
    """What is wrong with a case that failed or ended early, in detail. `events` are of its worst run."""
    if case.verdict not in WRONG:
        return
    run = case.most_severe
    failed = _failed(case)
    if failed:
        found = _breakdowns(run, failed, events, finished)
        yield failure(case, found, replay=replay_of(run, finished), width=width)
    broken = [shared for shared in case.groups if shared.verdict == "fail"] if case.verdict == "fail" else []
    for shared in broken:
        replay = replay_command(run.run_id, finished.results, scope="group")
        yield group_failure(case, shared, replay=replay, width=width)
    if not (failed or broken):
        logs = finished.results.folder.log_folder(run.run_id, run.attempt)
        shown = str(logs) if logs.is_dir() else None
        yield error_block(case, replay=replay_of_case(case, finished), logs=shown, width=width)


def _breakdowns(
    run: RunRecord, failed: Sequence[ExpectationSummary], events: list[EventRecord], finished: FinishedSuite
) -> list[tuple[ExpectationSummary, Breakdown]]:
    """Where the time of each operation went of which a bound was violated: by its formula, where that was one."""
    by_operation: dict[str, tuple[ExpectationSummary, Breakdown]] = {}
    for finding in failed:
        alias = finding.judged.measure.partition(".")[0]
        found, known = breakdown_of(run, finding, events, finished), by_operation.get(alias)
        if found is not None and (known is None or (found.by_formula and not known[1].by_formula)):
            by_operation[alias] = finding, found
    return list(by_operation.values())


def breakdown_of(
    run: RunRecord, finding: ExpectationSummary, events: list[EventRecord], finished: FinishedSuite
) -> Breakdown | None:
    """Where the time of one run went, compared with the formula; None where that is unknown, and for counts."""
    plan = finished.plans[run.run_id]
    expectation = find_expectation(plan, finding.judged)
    if expectation is None or finding.judged.unit != "s":
        return None
    found = break_down_time(replace(plan, attempt=run.attempt), restore_story(run, events), expectation)
    return found if isinstance(found, Breakdown) else None
