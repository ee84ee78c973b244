"""A program of the user's that speaks the subject protocol, started without a shell."""

from collections.abc import Mapping

from harness.drivers.base import driver
from harness.environments.world import Executable, Program
from harness.plan import RunPlan


@driver("exec")
def executable(plan: RunPlan, launch: Mapping[str, object]) -> Program:
    return Executable(argv=plan.client.argv, launch=launch)
