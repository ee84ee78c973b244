"""Two programs run in turn, so that whatever the machine does meanwhile meets both: each has its own results folder."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.plan import RunPlan
from harness.records.run import RunRecord
from harness.suite.planning import LoadedScenario
from harness.suite.runner import RunWriter


class RoutingWriter:
    """Writes each run to the suite that planned it."""

    def __init__(self, writers: Sequence[tuple[RunWriter, Sequence[RunPlan]]]) -> None:
        self._of = {plan.run_id: writer for writer, plans in writers for plan in plans}

    def write_lines(self, run: RunRecord, events: bytes) -> None:
        self._of[run.run_id].write_lines(run, events)

    def create_log_folder(self, run_id: str, attempt: int) -> Path:
        return self._of[run_id].create_log_folder(run_id, attempt)

    def remove_empty_logs(self, run_id: str, attempt: int) -> None:
        self._of[run_id].remove_empty_logs(run_id, attempt)


def with_program(loaded: LoadedScenario, argv: tuple[str, ...]) -> LoadedScenario:
    """The scenario with another program in the place of its own. Raises ValueError where it runs a profile."""
    scenario = loaded.scenario
    if any(cell.client.profile is not None for cell in scenario.cells):
        raise ValueError(f"{scenario.name} runs a profile, no program of yours")
    cells = tuple(replace(cell, client=replace(cell.client, argv=argv)) for cell in scenario.cells)
    return replace(loaded, scenario=replace(scenario, cells=cells))


def interleave(first: Sequence[RunPlan], second: Sequence[RunPlan]) -> tuple[RunPlan, ...]:
    """A B, B A, A B, ...: neither is always the one that the other has warmed something up for."""
    pairs = zip(first, second, strict=True)
    return tuple(plan for number, pair in enumerate(pairs) for plan in (pair if number % 2 == 0 else pair[::-1]))
