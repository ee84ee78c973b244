"""The bundled client, started by the world itself: forked where it runs, a host of its own where it is simulated."""

from collections.abc import Mapping

from harness.drivers.base import driver
from harness.environments.world import BundledClient, Program
from harness.plan import RunPlan


@driver("bundled")
def bundled(_plan: RunPlan, launch: Mapping[str, object]) -> Program:
    return BundledClient(launch=launch)
