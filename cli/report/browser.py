"""Shows a file in the user's browser without waiting for it. The browser inherits none of our streams."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

OPENERS = {"darwin": "open", "linux": "xdg-open"}
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
"""Without one of these, what Linux would open is a text browser in the middle of this terminal."""


def show(file: Path, *, environ: Mapping[str, str] = os.environ) -> str:
    """Start the browser on `file`. Returns why that could not be done, or nothing."""
    opener = shutil.which(OPENERS.get(sys.platform, ""), path=environ.get("PATH"))
    if opener is None:
        return "there is no program that opens a browser here (xdg-open)"
    if sys.platform == "linux" and not any(environ.get(name) for name in SCREENS):
        return "there is no screen here (DISPLAY is not set)"
    try:
        subprocess.Popen(
            [opener, file.resolve().as_uri()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=dict(environ),
        )
    except OSError as error:
        return f"{opener} cannot be started: {error.strerror}"
    return ""
