"""The simulation under another name."""

from harness.environments.registry import register
from harness.environments.sim.environment import SimEnvironment


@register("orbit")
class OrbitEnvironment(SimEnvironment):
    name = "orbit"
