"""Building programs that no package index ships, into the user's cache: repeatable, interruptible, one at a time."""

from harness.building.cache import cache
from harness.building.golang import Go, go_environment, gos
from harness.building.steps import StepFailed, Tell, step
from harness.building.workshop import workshop

__all__ = ["Go", "StepFailed", "Tell", "cache", "go_environment", "gos", "step", "workshop"]
