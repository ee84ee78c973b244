"""A suite as lines of JSON while it runs: every case as soon as its runs have ended, and the whole suite last. Once it
is interrupted, only the last line follows.

Each line is an object of `format` and one more key: `impossible` (a scenario that cannot be run here), `begun`, `case`,
`suite`.
"""

import json
from collections.abc import Iterable, Sequence
from typing import TextIO

from cli.exit_codes import exit_code_of
from cli.suite.case_documents import case_documents
from cli.suite.finished import FinishedSuite
from cli.suite.kept_events import EventKeeper
from cli.terminal.problem_texts import full_texts
from harness.language import Problems
from harness.plan import RunPlan
from harness.records.case_key import CaseKey, case_key
from harness.records.reader import Results
from harness.records.run import RunRecord
from harness.records.writer import Writer
from harness.suite.grouping import judge_groups
from harness.suite.runnable import UnrunnableScenario
from harness.suite.runner import MAX_ATTEMPTS, Observer

FORMAT = 1


class JsonLineStream:
    """Writes whole lines, each at once, for a reader that waits."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def line(self, what: str, value: object) -> None:
        self._out.write(json.dumps({"format": FORMAT, what: value}) + "\n")
        self._out.flush()

    def impossible(self, one: UnrunnableScenario, remedy: str | None) -> None:
        """`remedy` goes below the reasons."""
        texts = list(full_texts(one.why)) if isinstance(one.why, Problems) else [str(one.why)]
        texts += [remedy] if remedy is not None else []
        document = {"ids": one.case_ids, "path": str(one.scenario.path), "text": "\n\n".join(texts)}
        self.line("impossible", document)

    def observer_for(
        self, observer: Observer, writer: Writer, events: EventKeeper, plans: Sequence[RunPlan],
        suite: Sequence[RunPlan], previous_runs: Iterable[RunRecord],
    ) -> Observer:  # fmt: skip
        """An observer that passes everything on to `observer`, and has a line for each case of `plans` that is over.

        `events` are those of the runs that `writer` writes. Statistics are judged as those of the whole `suite`.
        `previous_runs`: runs that are not made again.
        """
        return _StreamingObserver(self, observer, writer, events, plans, suite, previous_runs)


class _StreamingObserver:
    def __init__(
        self,
        stream: JsonLineStream,
        observer: Observer,
        writer: Writer,
        events: EventKeeper,
        plans: Sequence[RunPlan],
        suite: Sequence[RunPlan],
        previous_runs: Iterable[RunRecord],
    ) -> None:
        self._stream, self._observer, self._writer, self._events = stream, observer, writer, events
        self._suite = suite
        self._plans = {plan.run_id: plan for plan in plans}
        self._runs: dict[CaseKey, list[RunRecord]] = {}
        self._open: dict[CaseKey, set[str]] = {}
        self._stopping = False
        for plan in plans:
            self._open.setdefault(plan.case_key, set()).add(plan.run_id)
        for record in previous_runs:
            self._run_finished(record)

    def started(self, plan: RunPlan) -> None:
        self._observer.started(plan)

    def doing(self, plan: RunPlan, words: str) -> None:
        self._observer.doing(plan, words)

    def stopping(self) -> None:
        self._stopping = True
        self._observer.stopping()

    def ended(self, plan: RunPlan, record: RunRecord) -> None:
        self._observer.ended(plan, record)
        if not (record.noisy and plan.attempt < MAX_ATTEMPTS):
            self._run_finished(record)

    def _run_finished(self, record: RunRecord) -> None:
        key = case_key(record)
        self._runs.setdefault(key, []).append(record)
        self._open[key].discard(record.run_id)
        if not self._open[key] and not self._stopping:
            self._write_case(tuple(self._runs.pop(key)))

    def _write_case(self, runs: tuple[RunRecord, ...]) -> None:
        groups = judge_groups(self._suite, runs)
        verdicts = [run.verdict for run in runs] + [g.verdict for g in groups if g.verdict != "skipped"]
        results = Results(
            folder=self._writer.folder, manifest=self._writer.manifest, runs=runs, tries=runs, quarantined=(),
            groups=groups,
        )  # fmt: skip
        finished = FinishedSuite(results=results, plans=self._plans, elapsed_s=0.0, exit=exit_code_of(verdicts))
        find_events = self._events.events_by_run
        for document in case_documents(finished, breakdown_of_passed=False, find_events=find_events):
            self._stream.line("case", document)
        self._events.forget(runs)
