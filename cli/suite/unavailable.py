"""What is said where an environment cannot run here."""

from cli.errors import CommandError
from cli.exit_codes import ExitCode
from harness.environments.world import EnvironmentUnavailable

ALTERNATIVE_SEPARATOR = ", or choose "
"""What stands between the remedy for an environment that cannot run and the way to do without it."""


def remedy_of(unavailable: EnvironmentUnavailable) -> str:
    """How to make the environment run, without the advice to choose another one."""
    return unavailable.remedy.partition(ALTERNATIVE_SEPARATOR)[0]


def unavailable_error(unavailable: EnvironmentUnavailable) -> CommandError:
    """Ends a command that can choose no other environment."""
    return CommandError(unavailable.reason, remedy_of(unavailable), code=ExitCode.LAB_ERROR)
