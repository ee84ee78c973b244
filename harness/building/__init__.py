"""Building programs that no package index ships, into the user's cache: repeatable, interruptible, one at a time."""

from harness.building.build_folder import build_folder
from harness.building.cache import cache
from harness.building.golang import GoToolchain, go_environment, go_toolchains
from harness.building.steps import ReportProgress, StepFailed, run_step

__all__ = [
    "GoToolchain",
    "ReportProgress",
    "StepFailed",
    "build_folder",
    "cache",
    "go_environment",
    "go_toolchains",
    "run_step",
]
