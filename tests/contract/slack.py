"""How much later than due things may happen in a world: `kit.slack_s` for checks that have no kit."""

import asyncio
from collections.abc import Callable

from machine_noise import measured_lateness

from harness.environments.sim.loop import SimLoop


def measured_slack() -> Callable[[], float]:
    """From this call on: nothing to speak of on virtual time, in cells also what the machine has been late since."""
    if isinstance(asyncio.get_running_loop(), SimLoop):
        return lambda: 0.001
    late_s = measured_lateness()
    return lambda: 0.3 + late_s()
