"""Where runs are carried out. Each environment is a package of its own, found by its name."""

from harness.environments.registry import UnknownEnvironment, environment, environment_names, register

__all__ = ["UnknownEnvironment", "environment", "environment_names", "register"]
