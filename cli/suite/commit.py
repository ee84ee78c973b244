"""The commit that a suite was run at: what somebody looks up first who asks since when a client is slower."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

DESCRIBE = ("git", "-c", "core.fsmonitor=false", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12")
"""Runs no hook of the repository's."""
LIMIT_S = 2.0
"""A suite does not wait longer for a large repository."""
VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA")
"""What CI systems say where no repository is checked out."""


def commit_of(folder: Path, environment: Mapping[str, str] = os.environ) -> str:
    """`3f2a9c1d84e0`, with `-dirty` where files have changed; empty where no repository is around the folder."""
    try:
        found = subprocess.run(DESCRIBE, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return next((environment[name][:12] for name in VARIABLES if environment.get(name)), "")
    return found.stdout.strip()
