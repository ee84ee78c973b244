"""A program of the user's that speaks the subject protocol, started without a shell."""

from collections.abc import Mapping

from harness.drivers.base import driver
from harness.environments.world import Executable, Program
from harness.plan import RunPlan


@driver("exec")
def executable(plan: RunPlan, launch: Mapping[str, object]) -> Program:
    """A program that is written as a path is looked for in the scenario's folder; another name, on PATH."""
    program, *arguments = plan.client.argv
    if "/" in program:
        program = str((plan.path.parent / program).absolute())
    return Executable(argv=(program, *arguments), launch=launch, pass_env=plan.client.pass_env)
