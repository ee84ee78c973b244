"""A suite while it runs: a finished row for each case, and on a terminal a bar and a row for each run under way.

Without a terminal there are no moving parts: finished rows, and a heartbeat each 30 s.
"""

import threading
from collections.abc import Iterable, Sequence
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from cli.show.cases import case_parameters, group_into_cases
from cli.show.formatting import VERDICT_STYLES, WIDTH, pluralized, seconds
from cli.show.rows import CaseRows
from cli.show.summary import count_texts
from cli.terminal.console import columns_of
from harness.plan import RunPlan
from harness.records.case_key import CaseKey, case_key
from harness.records.run import RunRecord
from harness.suite.progress import ActiveRun, Snapshot, SuiteProgress
from harness.suite.runner import MAX_ATTEMPTS

HEARTBEAT_S = 30.0
ROWS = 8
"""So many runs under way are shown; the rest is counted."""
OVERDUE_AFTER_S = 1.0
"""A run is overdue past its formula and this: a world takes so long to open at most."""
NAME_ROOM = WIDTH - 61
"""Columns of 80 for the scenario and the parameters of a run under way; more where the rows are wider."""


class LivePart(Protocol):
    """The part of the display that changes while rows stay."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Display:
    """Follows a suite on a console; an Observer of the runner. Use as a context: leaving it ends what moves."""

    def __init__(
        self, console: Console, plans: Sequence[RunPlan], *, lanes: int, previous_runs: Iterable[RunRecord] = ()
    ) -> None:
        kept = tuple(previous_runs)
        self.progress = SuiteProgress(plans, lanes=lanes, previous_runs=kept)
        self._console = console
        self._cases = {case_key(case.first): list(case.runs) for case in group_into_cases(kept)}
        self._open: dict[CaseKey, set[str]] = {}
        for plan in plans:
            self._open.setdefault(plan.case_key, set()).add(plan.run_id)
        self._rows = CaseRows(self._cases.keys() | self._open.keys(), width=columns_of(console))
        self._moving: LivePart = (
            _Bars(console, self.progress, self._rows.width)
            if console.is_terminal
            else _Heartbeat(console, self.progress)
        )

    def __enter__(self) -> "Display":
        if self._open:
            self._console.print(self._rows.head)
        self._moving.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._moving.stop()

    def started(self, plan: RunPlan) -> None:
        self.progress.started(plan)

    def doing(self, plan: RunPlan, words: str) -> None:
        self.progress.doing(plan, words)

    def ended(self, plan: RunPlan, record: RunRecord) -> None:
        if record.noisy and plan.attempt < MAX_ATTEMPTS:
            self.progress.postponed(plan)  # only the last try is shown
            return
        self.progress.ended(plan, record)
        key = plan.case_key
        runs = self._cases.setdefault(key, [])
        runs.append(record)
        self._open[key].discard(plan.run_id)
        if not self._open[key]:
            together = bool(plan.statistics)
            self._console.print(self._rows.finished_row(group_into_cases(runs)[0], judged_together=together))

    def stopping(self) -> None:
        self._moving.stop()
        active_runs = len(self.progress.snapshot().active_runs)
        self._console.print(Text(f"stopping: {pluralized(active_runs, 'run')} under way not counted", style="yellow"))


class _Bars:
    """Moves at the bottom of a terminal and vanishes at the end."""

    def __init__(self, console: Console, progress: SuiteProgress, width: int) -> None:
        self._progress = progress
        self._width = width
        self._live = Live(console=console, get_renderable=self._show, refresh_per_second=4, transient=True)

    def start(self) -> None:
        self._live.start()

    def stop(self) -> None:
        self._live.stop()

    def _show(self) -> RenderableType:
        snapshot = self._progress.snapshot()
        rows = sorted(snapshot.active_runs, key=lambda run: -run.elapsed_s)[:ROWS]
        lines = [_headline(snapshot), *(_live_row(run, self._width) for run in rows)]
        if len(snapshot.active_runs) > ROWS:
            lines.append(Text(f"  + {pluralized(len(snapshot.active_runs) - ROWS, 'cell')}", style="dim"))
        for line in lines:
            line.no_wrap, line.overflow = True, "crop"
        return Group(*lines)


class _Heartbeat:
    """A line each 30 s, so that a log shows that the suite lives."""

    def __init__(self, console: Console, progress: SuiteProgress) -> None:
        self._console = console
        self._progress = progress
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._ended.wait(HEARTBEAT_S):
            try:
                self._console.print(heartbeat(self._progress.snapshot()))
            except OSError:
                return  # the reader has gone: the main thread finds out by itself


def heartbeat(snapshot: Snapshot) -> Text:
    """`...   12/42 runs  1 failed  at most 19 s left; sarama-n3k3 #2: dialling broker 2, 11.2 of 31.6 s`."""
    text = f"...   {snapshot.ended}/{snapshot.total} runs{_counted(snapshot)}{_time_left(snapshot)}"
    if snapshot.active_runs:
        oldest = max(snapshot.active_runs, key=lambda run: run.elapsed_s)
        text += f"\n      {oldest.plan.scenario} #{oldest.plan.repeat}: {oldest.doing}, {_elapsed(oldest)}"
        text += ", overdue" if _overdue(oldest) else ""
    return Text(text)


def _headline(snapshot: Snapshot) -> Text:
    width = 24
    full = width * snapshot.ended // max(1, snapshot.total)
    text = Text("━" * full, style="green")
    text.append("━" * (width - full), style="bright_black")
    text.append(f"  {snapshot.ended}/{snapshot.total}", style="default")
    for verdict, words in count_texts(snapshot.verdicts, by_subject=snapshot.ended_by_subject):
        if verdict != "pass":
            text.append(f"   {words}", style=VERDICT_STYLES[verdict])
    return text.append(_time_left(snapshot), style="default")


def _live_row(run: ActiveRun, width: int) -> Text:
    """`  sarama-n3k3  1.27.2 #2  dialling broker 2  ━━╸───  11.2 of 31.6 s`."""
    plan = run.plan
    room = NAME_ROOM + width - WIDTH
    name = f"{plan.scenario}  {case_parameters(plan.case_key)}".rstrip() if width > WIDTH else plan.scenario
    who = f"{plan.client.version} #{plan.repeat}"
    figures = _elapsed(run)
    text = Text(f"  {name[:room]:<{room}} {who[:9]:<9} {run.doing[:24]:<24} ", style="default")
    if plan.predicted_s:
        share = run.elapsed_s / plan.predicted_s
        if _overdue(run):
            text.append("overdue", style="bold yellow")
        else:
            full = min(7, int(7 * share))
            text.append("━" * full, style="cyan").append("━" * (7 - full), style="bright_black")
    return text.append(figures.rjust(width - text.cell_len), style="default")


def _elapsed(run: ActiveRun) -> str:
    if run.plan.predicted_s is None:
        return f"{run.elapsed_s:.1f} s"
    return f"{run.elapsed_s:.1f} of {run.plan.predicted_s:.1f} s"


def _overdue(run: ActiveRun) -> bool:
    return run.plan.predicted_s is not None and run.elapsed_s > run.plan.predicted_s + OVERDUE_AFTER_S


def _counted(snapshot: Snapshot) -> str:
    return "".join(f"  {words}" for _, words in count_texts(snapshot.verdicts, by_subject=snapshot.ended_by_subject))


def _time_left(snapshot: Snapshot) -> str:
    """Nothing where a run takes longer than its formula: no bound is known any more."""
    if snapshot.remaining_s is None or any(map(_overdue, snapshot.active_runs)):
        return ""
    return f"   at most {seconds(snapshot.remaining_s)} left"
