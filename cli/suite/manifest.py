"""The manifest of a suite that begins now: what every command that runs suites writes first."""

import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from cli.suite.commit import commit_of
from harness.plan import RunPlan
from harness.records.manifest import Manifest
from harness.suite.machine import machine, wall_clock


def new_manifest(
    suite: str, plans: Sequence[RunPlan], *, environment: str, seed: int, arguments: Sequence[str], folder: Path
) -> Manifest:
    """`arguments` ask for the same runs again, with paths relative to `folder`."""
    return Manifest(
        suite=suite,
        faultlab=version("faultlab"),
        environment=environment,
        seed=seed,
        arguments=tuple(arguments),
        folder=os.fspath(folder),
        started_at=wall_clock(),
        run_ids=tuple(plan.run_id for plan in plans),
        machine=machine(),
        commit=commit_of(folder),
    )
