"""The events of runs whose case is not over yet, kept in memory: reading them back would read all others each time."""

from collections.abc import Sequence
from pathlib import Path

from cli.suite.failures import events_by_run
from harness.records.event import EventRecord
from harness.records.reader import Results
from harness.records.run import RunRecord
from harness.suite.runner import RunWriter


class EventKeeper:
    """A `RunWriter` that passes everything on to another one, and keeps the events of each run's last try."""

    def __init__(self, writer: RunWriter) -> None:
        self._writer = writer
        self._events: dict[str, bytes] = {}

    def write_lines(self, run: RunRecord, events: bytes) -> None:
        self._writer.write_lines(run, events)
        self._events[run.run_id] = events

    def create_log_folder(self, run_id: str, attempt: int) -> Path:
        return self._writer.create_log_folder(run_id, attempt)

    def remove_empty_logs(self, run_id: str, attempt: int) -> None:
        self._writer.remove_empty_logs(run_id, attempt)

    def events_by_run(self, results: Results, runs: Sequence[RunRecord]) -> dict[str, list[EventRecord]]:
        """The events of these tries, by run id; from the results folder where another process wrote them."""
        kept = {run.run_id: self._events[run.run_id] for run in runs if run.run_id in self._events}
        found = events_by_run(results, [run for run in runs if run.run_id not in kept])
        for run_id, lines in kept.items():
            found[run_id] = [EventRecord.model_validate_json(line) for line in lines.splitlines()]
        return found

    def forget(self, runs: Sequence[RunRecord]) -> None:
        """These runs are over."""
        for run in runs:
            self._events.pop(run.run_id, None)
