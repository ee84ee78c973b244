"""Which tasks wait where: the text of the error about a simulation that cannot continue."""

import asyncio
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from harness.environments.sim.hosts import Host, HostState

SHOWN = 20
"""Tasks that are listed one by one; the rest is counted."""


def describe_unfinished(hosts: Iterable[Host]) -> str:
    """A line for each unfinished task, and one for each host that does not run."""
    lines: list[str] = []
    for host in hosts:
        if host.state is not HostState.RUNNING:
            lines.append(f"host {host.name} is {host.state.value}, {len(host.held)} callbacks wait for it")
        lines.extend(f"{host.name}: {task.get_name()} {_place(task)}" for task in host.unfinished())
    more = len(lines) - SHOWN
    if more > 0:
        lines[SHOWN:] = [f"and {more} more"]
    return "".join(f"\n  {line}" for line in lines) or " nothing"


def _place(task: asyncio.Task[Any]) -> str:
    """The innermost line of the task's own coroutines, and the one that it was started for."""
    awaited: Any = task.get_coro()
    outer = getattr(awaited, "__qualname__", "?")
    frame = None
    while awaited is not None:
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None) or frame
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
    if frame is None:
        return f"in {outer}"
    return f"in {outer}, at {PurePath(frame.f_code.co_filename).name}:{frame.f_lineno} ({frame.f_code.co_name})"
