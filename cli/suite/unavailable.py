"""What is said where an environment cannot run here."""

from cli.errors import CommandError
from cli.exit_codes import ExitCode
from harness.environments.world import EnvironmentUnavailable


def unavailable_error(unavailable: EnvironmentUnavailable, *, can_be_simulated: bool = False) -> CommandError:
    """Ends the command. `can_be_simulated`: what it was asked to do could be done in the simulation, too."""
    otherwise = ", or choose `--env sim`" if can_be_simulated else ""
    return CommandError(unavailable.reason, f"{unavailable.remedy}{otherwise}", code=ExitCode.LAB_ERROR)
