"""The real library, as a program of ours around it: the same settings and scenarios as the bundled profile."""

from collections.abc import Mapping

from harness.drivers.base import driver
from harness.drivers.errors import ProtocolViolation, SubjectError
from harness.environments.world import Executable, Program
from harness.plan import RunPlan
from harness.realclients import RealClientMissing, real_client


@driver("real")
def real(plan: RunPlan, launch: Mapping[str, object]) -> Program:
    """Raises SubjectError where it is not built.

    It gets only the settings that the scenario gives, so that a profile's default that is not the library's shows.
    """
    try:
        program = real_client(plan.client.name, plan.client.version).found()
    except RealClientMissing as missing:
        raise SubjectError(ProtocolViolation.NOT_STARTED, str(missing)) from missing
    settings = launch["settings"]
    assert isinstance(settings, Mapping)
    given = {name: value for name, value in settings.items() if name in plan.given_settings}
    return Executable(argv=(str(program),), launch={**launch, "settings": given})
