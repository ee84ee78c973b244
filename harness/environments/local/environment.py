"""The local environment: each plan is carried into a cell of its own, up to `lanes` of them side by side."""

import os
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from harness.brokers.kind import EMBEDDED
from harness.environments.linux.levers import LINUX_LEVERS
from harness.environments.local.cell import probe_namespaces
from harness.environments.local.cell_main import CellMain, CellTask
from harness.environments.local.channel import ChannelClosed
from harness.environments.local.resources import MOST, MOST_AUTO, lanes_for
from harness.environments.local.starting import StartGate, StartSlot
from harness.environments.local.world import CLUSTERS
from harness.environments.local.zygote import CellHandle, Zygote, ZygoteExited
from harness.environments.registry import AUTO_LANES, register
from harness.environments.world import (
    Conduct,
    EnvironmentUnavailable,
    ProgressCallback,
    RunInterrupted,
    Supported,
    Unsupported,
)
from harness.levers import Lever
from harness.plan import DriverName, RunPlan
from harness.story import Kernel, LabError, Story, lost_story
from harness.toxiproxy.obtain import ToxiproxyMissing, find

_STARTING_LIMIT_S = 10.0
GRACE_S = 60.0
"""How long after its limit a run may take to heal and to end before its cell is ended."""
_GONE_LIMIT_S = 10.0
_CRASHES = ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL")
"""Signals of a process' own mistakes."""


@register("local")
class LocalEnvironment:
    """`harness.environments.world.Environment` on Linux namespaces and real sockets."""

    name = "local"
    virtual_time = False
    keeps_logs = True

    def __init__(self, conduct: Conduct, *, lanes: int | None = None) -> None:
        """`lanes`: None takes 16, less on little memory; AUTO_LANES what memory holds and starts in time."""
        self.lanes = lanes or lanes_for(most=MOST_AUTO if lanes == AUTO_LANES else MOST)
        self._conduct = conduct
        self._zygote: Zygote | None = None
        self._toxiproxy: Path | None = None
        self._gate = StartGate(paced=lanes == AUTO_LANES)
        self._cells: set[CellHandle] = set()
        self._state = threading.Lock()
        self._interrupted = False

    def supports(self, lever: Lever, cluster: str = EMBEDDED) -> Supported | Unsupported:
        return LINUX_LEVERS.supports(lever, cluster)

    def supports_cluster(self, kind: str) -> Supported | Unsupported:
        return Supported() if kind in CLUSTERS else Unsupported(f"run {kind} brokers in its cells")

    def supports_driver(self, driver: DriverName) -> Supported | Unsupported:
        return Supported()

    def __enter__(self) -> Self:
        """See that cells can be made, find Toxiproxy, and fork the zygote. Raises EnvironmentUnavailable."""
        if sys.platform != "linux":
            raise EnvironmentUnavailable(
                f"cells need Linux, this is {sys.platform}", "run it on Linux, in a virtual machine for instance"
            )
        refused = probe_namespaces()
        if refused is not None:
            raise refused
        try:
            self._toxiproxy = find()
        except ToxiproxyMissing as missing:
            raise EnvironmentUnavailable(missing.reason, missing.remedy) from missing
        self._zygote = Zygote(CellMain(self._conduct))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.interrupt()
        if self._zygote is not None:
            self._zygote.close()

    def run(self, plan: RunPlan, progress: ProgressCallback, logs: Path | None) -> Story:
        """Raises RunInterrupted after `interrupt`, EnvironmentUnavailable where this cell was refused."""
        if self._zygote is None or self._toxiproxy is None:
            raise RuntimeError("run() before the environment was entered")
        with self._gate.cell() as turn:
            cell = self._open_cell(self._zygote)
            try:
                cell.channel.send(CellTask(plan=plan, logs=logs, toxiproxy=self._toxiproxy))
                return self._await_story(cell, plan, progress, turn, logs)
            except ChannelClosed:
                if self._interrupted:
                    raise RunInterrupted from None
                return _lost(plan, "cell-died", f"the cell ended before its run had; {_where(logs)}")
            except TimeoutError:
                return _lost(
                    plan, "cell-hung", f"the run went on {GRACE_S:g} s past its limit of {plan.limit_s:g} s: its cell "
                    f"was ended; {_where(logs)}"
                )  # fmt: skip
            finally:
                self._end(cell)

    def _open_cell(self, zygote: Zygote) -> CellHandle:
        with self._state:
            if self._interrupted:
                raise RunInterrupted
            try:
                cell = zygote.open_cell()
            except ZygoteExited as gone:
                raise EnvironmentUnavailable(
                    f"{gone} by itself", "see whether the machine ran out of memory (`dmesg`), and run again"
                ) from gone
            self._cells.add(cell)
            return cell

    def _await_story(
        self, cell: CellHandle, plan: RunPlan, progress: ProgressCallback, turn: StartSlot, logs: Path | None
    ) -> Story:
        deadline_s = time.monotonic() + plan.limit_s + GRACE_S
        turn.deadline_s = time.monotonic() + _STARTING_LIMIT_S
        while True:
            try:
                kind, *rest = cell.channel.receive(deadline_s if turn.over else min(deadline_s, turn.deadline_s))
            except TimeoutError:
                if turn.over or time.monotonic() >= deadline_s:
                    raise
                turn.end()
                continue
            match kind:
                case "progress":
                    progress(rest[0])
                case "started":
                    turn.end()
                case "story":
                    story: Story = rest[0]
                    return story
                case "failed":
                    return _lost(plan, *rest)
                case "killed":
                    return _conductor_killed(plan, logs, *rest)
                case "unavailable":
                    raise EnvironmentUnavailable(*rest)
                case _:
                    raise AssertionError(f"a cell said {kind}")

    def _end(self, cell: CellHandle) -> None:
        """End the cell, and return when every process of it has gone."""
        cell.end()
        deadline_s = time.monotonic() + _GONE_LIMIT_S
        try:
            while True:
                cell.channel.receive(deadline_s)
        except (ChannelClosed, TimeoutError):
            pass
        cell.channel.close()
        with self._state:
            self._cells.discard(cell)

    def interrupt(self) -> None:
        with self._state:
            self._interrupted = True
            for cell in self._cells:
                cell.end()


def _where(logs: Path | None) -> str:
    return "no logs were kept" if logs is None else f"see {logs}"


def _conductor_killed(plan: RunPlan, logs: Path | None, by: str, short_of_memory: bool) -> Story:
    """The lab sends its conductor no signal: inside the cell, nobody but a program under test can have sent one."""
    how = f"the process that conducts the run was killed by {by}"
    if short_of_memory:
        return _lost(plan, "cell-died", f"{how}: the machine ran out of memory; {_where(logs)}")
    if plan.client.driver == "bundled" or by in _CRASHES:
        return _lost(plan, "cell-died", f"{how}; {_where(logs)}")
    text = f"{how}: a program can signal every process of its cell, and the lab sends no such signal; {_where(logs)}"
    return _lost(plan, "subject-killed-conductor", text, blame="subject")


def _lost(plan: RunPlan, code: str, text: str, *, blame: Literal["lab", "subject"] = "lab") -> Story:
    """The story of a run of which nothing came back."""
    kernel = Kernel(release=os.uname().release, hz=0)
    error = LabError(code=code, text=text, blame=blame)
    return lost_story(plan.run_id, plan.attempt, error, origin_ns=time.monotonic_ns(), kernel=kernel)
