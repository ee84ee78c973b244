"""Which CI system runs this command: each has its own marks in a log."""

import os
from collections.abc import Mapping
from enum import Enum


class System(Enum):
    """The value is what people call it."""

    GITHUB = "GitHub Actions"
    GITLAB = "GitLab CI"
    OTHER = "another CI system"


VARIABLES = {"GITHUB_ACTIONS": System.GITHUB, "GITLAB_CI": System.GITLAB}
"""Set to `true` by the systems themselves; Gitea and Forgejo set GitHub's, whose marks they read."""


def detect_system(environment: Mapping[str, str] = os.environ) -> System:
    return next((system for name, system in VARIABLES.items() if environment.get(name) == "true"), System.OTHER)
