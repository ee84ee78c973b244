"""What a driver is: a function from a plan and its launch record to a program that a world can start."""

from collections.abc import Callable, Mapping

from client.registry import Registry
from harness.environments.world import Program
from harness.plan import RunPlan

Driver = Callable[[RunPlan, Mapping[str, object]], Program]

DRIVERS: Registry[Driver] = Registry("drivers", "harness.drivers")
"""Every driver by the name in `ClientPlan.driver`."""


def driver(name: str) -> Callable[[Driver], Driver]:
    """Register a driver. Raises ValueError where the name is taken."""

    def register(function: Driver) -> Driver:
        return DRIVERS.add(name, function)

    return register


def build_program(plan: RunPlan, launch: Mapping[str, object]) -> Program:
    """The program that the plan's own driver makes of its launch record."""
    return DRIVERS[plan.client.driver](plan, launch)
