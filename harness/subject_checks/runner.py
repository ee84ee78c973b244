"""Runs every check in a cell of its own, one after the other, so that no check affects the next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from harness.drivers import SubjectError
from harness.environments.local.cell import call_in_cell, probe_namespaces
from harness.environments.local.world import LocalWorld
from harness.environments.world import EnvironmentUnavailable
from harness.plan import ClientPlan, ClusterShape, ResolvedValue, RunPlan, Topic
from harness.subject_checks.checks import CHECKS
from harness.subject_checks.context import PARTITIONS, TOPIC, CheckContext, CheckFailed, Limits
from harness.toxiproxy.obtain import ToxiproxyMissing, find

_OVERHEAD_S = 120.0
"""Time for everything but the program's answers: opening the world, start, `started`, exit."""
_MAX_SEQUENTIAL_WAITS = 4
"""No check waits for more answers one after the other."""


@dataclass(frozen=True, slots=True)
class CheckTarget:
    """What is checked. `settings` go to the program as a scenario's would."""

    client: ClientPlan
    settings: tuple[ResolvedValue, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One requirement, and how it was met or what happened instead; `notes` are worth knowing, but no failure."""

    name: str
    state: Literal["kept", "not kept"]
    text: str
    notes: tuple[str, ...] = ()


def check(target: CheckTarget, logs: Path, names: Sequence[str] = ()) -> Iterator[CheckResult]:
    """Make the checks of these names, all where there are none, in order.

    What the program writes to its stderr goes to `logs`, a file a check.

    Raises EnvironmentUnavailable where no cell can be made here, TimeoutError and RuntimeError where one breaks.
    """
    refused = probe_namespaces()
    if refused is not None:
        raise refused
    try:
        toxiproxy = find()
    except ToxiproxyMissing as missing:
        raise EnvironmentUnavailable(missing.reason, missing.remedy) from missing
    for name in names or CHECKS:
        yield call_in_cell(
            partial(_run_check, name, target, toxiproxy, logs / f"{name}.log"),
            timeout_s=_OVERHEAD_S + _MAX_SEQUENTIAL_WAITS * (target.limits.dark_s + target.limits.patience_s),
        )


async def _run_check(name: str, target: CheckTarget, toxiproxy: Path, log: Path) -> CheckResult:
    plan = _plan(target)
    async with LocalWorld.opened(plan, None, toxiproxy, started=lambda: None) as world:
        context = CheckContext(plan, world, log, target.limits)
        try:
            text = await CHECKS[name](context)
        except (CheckFailed, SubjectError) as broken:
            return CheckResult(name, "not kept", str(broken), tuple(context.notes))
        return CheckResult(name, "kept", text, tuple(context.notes))


def _plan(target: CheckTarget) -> RunPlan:
    return RunPlan(
        run_id="check", scenario="check", path=Path("check"), about="", tags=(), environment="local",
        client=target.client, settings=target.settings, given_settings=(), parameters=(),
        cluster=ClusterShape(brokers=1, topics=(Topic(name=TOPIC, partitions=PARTITIONS, leaders=(1,) * PARTITIONS),)),
        steps=(), expectations=(), seed=1, repeat=1,
    )  # fmt: skip
